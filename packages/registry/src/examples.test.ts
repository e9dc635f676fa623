import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { builtInKinds } from '@krmkit/kinds'
import { expect, it } from 'vitest'
import * as registry from './index.ts'
import { sampleRegistry } from './testing/sample-registry.ts'

it('runs the example of the README', async () => {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const code = /```ts\n(.*?)```/s.exec(text)?.[1] ?? ''
  expect(code.split('\n').length).toBeLessThanOrEqual(20)
  const given = {
    environment: sampleRegistry().environment,
    builtInKinds,
    signal: new AbortController().signal,
    assert,
    registry,
  }
  const body = code.replace(/import (\{.*\}) from '@krmkit\/registry'/, 'const $1 = given.registry')
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor
  const names = 'const { environment, builtInKinds, signal, assert } = given\n'
  await new AsyncFunction('given', names + body)(given)
})
