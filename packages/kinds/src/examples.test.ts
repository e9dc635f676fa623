import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as core from './handles/core-v1.generated.ts'
import * as kinds from './index.ts'

it('the example of the README runs', () => {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const code = /```ts\n(.*?)```/s.exec(text)?.[1] ?? ''
  expect(code.split('\n').length).toBeLessThanOrEqual(20)
  const body = code
    .replace(/import (\{.*\}) from '@krmkit\/kinds'/, 'const $1 = kinds')
    .replace(/import (\{.*\}) from '@krmkit\/kinds\/core\/v1'/, 'const $1 = core')
  new Function('kinds', 'core', 'assert', body)(kinds, core, assert)
})
