import assert from 'node:assert/strict'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as vitest from 'vitest'
import { afterAll, describe, expect, it } from 'vitest'
import { root } from '../source-files.ts'
import { codeBlocksOf, runBlock, typeErrorsOf } from './code-blocks.ts'

/** The examples of the guides compile in a strict project and run, each alone and as it stands. */

/** Blocks that run elsewhere, or need more than a process. They compile here. */
const notRunHere: Readonly<Record<string, string>> = {
  'docs/storage.md 1': 'describes several processes; tests of @krmkit/storage/socket run them',
  'docs/storage.md 2': 'needs an etcd; tests/etcd runs it',
}
const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
const blocks = pages.flatMap((name) => codeBlocksOf(`docs/${name}`))
const errors = typeErrorsOf(blocks)

const substitutes = new Map<string, object>([
  ['node:assert/strict', { default: assert }],
  // A suite inside a test cannot declare tests; tests/docs only runs the declaration.
  ['node:test', { describe: (_: string, body: () => void) => body(), it: () => undefined }],
  ['vitest', { ...vitest, test: Object.assign((_: string, run: () => Promise<void>) => run(), { extend: () => undefined }) }],
])

const specifiers = new Set(
  blocks.flatMap(({ code }) => [...code.matchAll(/ from '(.*)'/g)].map(([, specifier = '']) => specifier)),
)
const modules = new Map<string, object>(
  await Promise.all(
    [...specifiers].map(async (name) => [name, substitutes.get(name) ?? ((await import(name)) as object)] as const),
  ),
)

async function load(specifier: string): Promise<object> {
  const found = modules.get(specifier)
  if (found === undefined) throw new Error(`unknown module ${specifier}`)
  return found
}

// The file of an example in docs/debugging-tests.md.
afterAll(() => rmSync(join(root, 'inspector.html'), { force: true }))

describe.each(blocks)('$name', (block) => {
  it('compiles in a strict project', () => expect(errors.get(block.name)).toEqual([]))

  const reason = notRunHere[block.name]
  const title = reason === undefined ? 'runs' : `runs (not here: ${reason})`
  it.skipIf(reason !== undefined)(title, { timeout: 60_000 }, () => runBlock(block, load))
})
