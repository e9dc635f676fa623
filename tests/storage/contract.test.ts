/**
 * The contract of docs/reference/storage-contract.md: a backend from outside the package passes the suite, every guarantee names checks that exist, and
 * these checks fail for a backend that breaks the guarantee.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Storage } from '@krmkit/storage'
import { type CreateStore, checkLinearizable, clientOf, recordHistory, storageSuite } from '@krmkit/storage/testing'
import { describe, expect, it } from 'vitest'
import { root } from '../source-files.ts'
import { brokenStores } from './broken-storage.ts'
import { emptyMedium, LogStorage, type Medium } from './log-storage.ts'

/** Creates stores; `survives` is what is left of a medium after a restart. */
function createStores(
  alter = (storage: Storage): Storage => storage,
  survives = (medium: Medium): Medium => medium,
): CreateStore {
  return async (options) => {
    let medium = emptyMedium()
    let storage = alter(new LogStorage(medium, options))
    const reopen = async () => {
      await storage.close()
      medium = survives(medium)
      storage = alter(new LogStorage(medium, options))
      return storage
    }
    return { storage, reopen, dispose: () => storage.close() }
  }
}

storageSuite('a backend outside the package', createStores(), { runner: { describe, it }, persistent: true, seeds: [1, 2, 3] })

interface Guarantee {
  readonly name: string
  readonly checks: readonly { readonly file: string; readonly title: string }[]
}

function guarantees(): Guarantee[] {
  const text = readFileSync(join(root, 'docs/reference/storage-contract.md'), 'utf8')
  const [, section = ''] = /\n## Guarantees\n(.*?)\n## /s.exec(text) ?? []
  return section
    .split('\n### ')
    .slice(1)
    .map((part) => ({
      name: part.slice(0, part.indexOf('\n')),
      checks: [...part.matchAll(/^- \[.+?\]\((.+?)\): "(.+)"$/gm)].map(([, file = '', title = '']) => ({ file, title })),
    }))
}

/** The tests of the suite for a store, by title. */
function suiteOf(createStore: CreateStore): { readonly title: string; run(): Promise<void> }[] {
  const tests: { readonly title: string; run(): Promise<void> }[] = []
  const runner = {
    describe: (_: string, body: () => void) => body(),
    it: (title: string, run: () => Promise<void>) => tests.push({ title, run }),
  }
  storageSuite('broken', createStore, { runner, persistent: true, seeds: [1, 2, 3] })
  return tests
}

/** Longest time of a test that waits for an event that does not come. */
const patienceMs = 3000

/** How the first of the tests with the title fails; undefined when all pass. */
async function failureOf(createStore: CreateStore, title: string): Promise<string | undefined> {
  for (const test of suiteOf(createStore)) {
    if (!test.title.startsWith(title)) continue
    const failure = await Promise.race([
      test.run().then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      ),
      setTimeout(patienceMs, 'an event does not come'),
    ])
    if (failure !== undefined) return failure
  }
  return undefined
}

const all = guarantees()
const inSuite = ({ file }: { readonly file: string }) => file.includes('packages/storage/src/testing/')

describe('docs/reference/storage-contract.md', () => {
  it('names every guarantee of the contract', () => {
    expect(all.map(({ name }) => name)).toEqual([
      ...['Ordered', 'Unique', 'Atomic', 'Reliable', 'Resumable', 'Bookmarkable'],
      ...['Linearizable', 'Snapshot lists', 'Durable before acknowledged'],
    ])
  })

  it.each(all.flatMap(({ name, checks }) => checks.map((check) => ({ name, ...check }))))(
    '$name: the check "$title" exists',
    ({ file, title }) => {
      const text = readFileSync(join(root, 'docs/reference', file), 'utf8')
      const titles = [...text.matchAll(/['"`]([^'"`\n]*)['"`]/g)].map(([, found = '']) => found)
      expect(titles.filter((found) => found.startsWith(title))).toHaveLength(1)
    },
  )

  it.each(all.filter(({ name }) => name in brokenStores))('$name: its checks find a violation', async ({ name, checks }) => {
    const createStore = createStores(brokenStores[name])
    const unnoticed: string[] = []
    for (const check of checks.filter(inSuite)) {
      if ((await failureOf(createStore, check.title)) === undefined) unnoticed.push(check.title)
    }
    expect(checks.some(inSuite)).toBe(true)
    expect(unnoticed).toEqual([])
  })

  it('Durable before acknowledged: its checks find a write that is lost in a restart', async () => {
    const { checks } = all.find(({ name }) => name === 'Durable before acknowledged')!
    const createStore = createStores(undefined, ({ events, ...rest }) => ({ ...rest, events: events.slice(0, -1) }))
    for (const { title } of checks.filter(inSuite)) expect(await failureOf(createStore, title), title).toBeDefined()
  })

  it('Linearizable: a recorded history shows stale reads, and none of the backend as it should be', async () => {
    const judge = async (alter: (storage: Storage) => Storage) => {
      await using storage = alter(new LogStorage(emptyMedium()))
      const clients = Array.from({ length: 4 }, () => clientOf(storage))
      return checkLinearizable(await recordHistory({ clients, seed: 1 })).isLinearizable
    }
    expect([await judge((storage) => storage), await judge(brokenStores.Linearizable!)]).toEqual([true, false])
  })
})
