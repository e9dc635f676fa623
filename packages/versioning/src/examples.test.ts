import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as versioning from './index.ts'

it('runs the README example', () => {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const code = /```ts\n(.*?)```/s.exec(text)?.[1] ?? ''
  expect(code.split('\n').length).toBeLessThanOrEqual(20)
  const body = code.replace(/import (\{.*\}) from '@krmkit\/versioning'/, 'const $1 = versioning')
  new Function('versioning', 'assert', body)(versioning, assert)
})
