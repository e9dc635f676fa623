import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import * as client from '@krmkit/client'
import * as controllers from '@krmkit/controllers'
import { expect, it } from 'vitest'
import * as testing from './index.ts'

const AsyncFunction = (async () => undefined).constructor as FunctionConstructor
const modules: Readonly<Record<string, object>> = { client, controllers, testing }

/** Runs the first example of a README. */
async function runExample(path: string, names: Readonly<Record<string, unknown>>): Promise<void> {
  const text = readFileSync(new URL(path, import.meta.url), 'utf8')
  const code = /```ts\n(.*?)```/s.exec(text)?.[1] ?? ''
  expect(code.trim().split('\n').length).toBeGreaterThan(5)
  expect(code.trim().split('\n').length).toBeLessThanOrEqual(20)
  const body = code.replace(/^import (\{.*\}) from '@krmkit\/(\w+)'$/gm, 'const $1 = modules.$2')
  await new AsyncFunction('modules', 'assert', ...Object.keys(names), body)(modules, assert, ...Object.values(names))
}

it('the example of the README runs', async () => {
  await runExample('../README.md', {})
})

it('the example of the README of controllers runs', async () => {
  await using cluster = await testing.createTestServer({ controllers: [] })
  await runExample('../../controllers/README.md', { server: cluster })
})
