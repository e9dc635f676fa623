import assert from 'node:assert/strict'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as vitest from 'vitest'
import { afterAll, describe, expect, it } from 'vitest'
import { documentPages, manifestOf, packageFolders, root } from '../source-files.ts'
import { codeBlocksOf, runBlock, typeErrorsOf } from './code-blocks.ts'

/** The examples of the guides and READMEs compile in a strict project and run, each alone and as it stands. */

/** Blocks that run elsewhere, or need more than a process. They compile here. */
const notRunHere: Readonly<Record<string, string>> = {
  'docs/operate/storage.md 1': 'describes several processes; tests of @krmkit/storage/socket run them',
  'docs/operate/storage.md 2': 'needs an etcd; tests/etcd runs it',
}
const readmes = ['packages', 'examples'].flatMap((folder) =>
  readdirSync(join(root, folder)).map((name) => `${folder}/${name}/README.md`),
)
const pages = ['README.md', ...documentPages(), ...readmes.filter((file) => existsSync(join(root, file)))]
const blocks = pages.flatMap(codeBlocksOf)
const errors = typeErrorsOf(blocks)

/** Tests that blocks have started. */
const started: Promise<unknown>[] = []
type Hook = () => Promise<unknown>

/** The runner of Node: a block that declares tests runs them, with its hooks. */
function nodeTest(): object {
  const hooks = { beforeEach: [] as Hook[], afterEach: [] as Hook[], after: [] as Hook[] }
  const test = (_: string, run: Hook) => {
    const whole = async () => {
      for (const each of [...hooks.beforeEach, run, ...hooks.afterEach, ...hooks.after]) await each()
    }
    started.push(whole())
  }
  const add = (name: keyof typeof hooks) => (hook: Hook) => void hooks[name].push(hook)
  // A suite inside a test cannot declare tests; only its declaration runs.
  const suites = { describe: (_: string, body: () => void) => body(), it: () => undefined }
  return { ...suites, test, beforeEach: add('beforeEach'), afterEach: add('afterEach'), after: add('after') }
}

/** Tests with fixtures need the runner itself, so that only their declaration runs. */
const withoutFixtures = { ...vitest, test: Object.assign((_: string, run: Hook) => run(), { extend: () => () => undefined }) }

const substitutes = new Map<string, () => object>([
  ['node:assert/strict', () => ({ default: assert })],
  ['node:test', nodeTest],
  ['vitest', () => withoutFixtures],
])

const specifiers = new Set(
  blocks.flatMap(({ code }) => [...code.matchAll(/ from '(.*)'/g)].map(([, specifier = '']) => specifier)),
)
const modules = new Map<string, object>(
  await Promise.all(
    [...specifiers].filter((name) => !substitutes.has(name)).map(async (name) => [name, (await import(name)) as object] as const),
  ),
)

async function load(specifier: string): Promise<object> {
  const found = substitutes.get(specifier)?.() ?? modules.get(specifier)
  if (found === undefined) throw new Error(`unknown module ${specifier}`)
  return found
}

// The file of an example in docs/guide/debugging-tests.md.
afterAll(() => rmSync(join(root, 'inspector.html'), { force: true }))

/** Packages that programs can import. */
const importable = packageFolders().filter((name) => '.' in (manifestOf(`packages/${name}`).exports ?? {}))

it.each(importable)('the README of %s begins with an example of at most 20 lines', (name) => {
  const [first] = blocks.filter((block) => block.name === `packages/${name}/README.md 1`)
  expect(first?.code.trim().split('\n').length).toBeLessThanOrEqual(20)
})

describe.each(blocks)('$name', (block) => {
  it('compiles in a strict project', () => expect(errors.get(block.name)).toEqual([]))

  const reason = notRunHere[block.name]
  const title = reason === undefined ? 'runs' : `runs (not here: ${reason})`
  it.skipIf(reason !== undefined)(title, async () => {
    await runBlock(block, load)
    await Promise.all(started.splice(0))
  })
})
