import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import * as storage from '@krmkit/storage'
import { expect, it } from 'vitest'
import * as apiserver from './index.ts'

it('runs the example of the README', async () => {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const code = /```ts\n(.*?)```/s.exec(text)?.[1] ?? ''
  expect(code.split('\n').length).toBeLessThanOrEqual(20)
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor
  const body = code
    .replace(/import (\{.*\}) from '@krmkit\/(\w+)'/g, 'const $1 = $2')
    // Not every engine that this package runs on knows the declaration.
    .replace('await using', 'const')
  await new AsyncFunction('apiserver', 'storage', 'assert', body)(apiserver, storage, assert)
})
