import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as admission from './index.ts'

it('runs the README example', async () => {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const code = /```ts\n(.*?)```/s.exec(text)?.[1] ?? ''
  expect(code.split('\n').length).toBeLessThanOrEqual(20)
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor
  const body = code.replace(/import (\{.*\}) from '@krmkit\/admission'/, 'const $1 = admission')
  await new AsyncFunction('admission', 'assert', body)(admission, assert)
})
