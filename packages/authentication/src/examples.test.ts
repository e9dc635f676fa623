import { readFileSync } from 'node:fs'
import * as meta from '@krmkit/meta'
import { expect, it } from 'vitest'
import * as authentication from './index.ts'

it('runs the README example', async () => {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const code = /```ts\n(.*?)```/s.exec(text)?.[1] ?? ''
  expect(code.split('\n').length).toBeLessThanOrEqual(20)
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor
  const body = code
    .replace(/import (\{[^}]*\}) from '@krmkit\/authentication'/, 'const $1 = authentication')
    .replace(/import (\{[^}]*\}) from '@krmkit\/meta'/, 'const $1 = meta')
    .replaceAll('console.log', 'log')
  const lines: unknown[][] = []
  await new AsyncFunction('authentication', 'meta', 'log', body)(authentication, meta, (...line: unknown[]) => lines.push(line))
  expect(lines).toEqual([['alice', ['dev', 'ops', 'system:authenticated']]])
})
