import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as meta from './index.ts'

it('README example runs', () => {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const code = /```ts\n(.*?)```/s.exec(text)?.[1] ?? ''
  expect(code.split('\n').length).toBeLessThan(20)
  const body = code.replace(/import (\{.*\}) from '@krmkit\/meta'/, 'const $1 = krmkit')
  new Function('krmkit', 'assert', body)(meta, assert)
})
