import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { RandomChoices } from '@krmkit/base/random-choices'
import { describe, expect, it } from 'vitest'
import type { Storage } from '../interfaces.ts'
import { memoryStorage } from '../memory/memory-storage.ts'
import { failureOf, put, takeUntil } from '../testing/harness.ts'
import { withTempDir } from '../testing/temp-dir.ts'
import { lmdbStorage } from './lmdb-storage.ts'

const sizeOf = (dir: string) => statSync(join(dir, 'data.mdb')).size
const besides = (dir: string) => readdirSync(dirname(dir)).filter((name) => name !== basename(dir))
const value = (n: number) => () => new Uint8Array(2000).fill(n % 256)

async function withStore(use: (storage: Storage, dir: string) => Promise<void>): Promise<void> {
  await withTempDir(async (parent) => {
    const dir = join(parent, 'data')
    await use(await lmdbStorage({ dir }), dir)
  })
}

/** Writes many entries and deletes most of them, so that most of the file is free. */
async function fragment(storage: Storage): Promise<void> {
  const all = Array.from({ length: 5000 }, (_, n) => n)
  await Promise.all(all.map((n) => storage.put(`/a/${n}`, value(n))))
  await Promise.all(all.filter((n) => n % 50 !== 0).map((n) => storage.delete(`/a/${n}`, value(n))))
  await storage.compact(storage.revision)
}

describe('defragmenting an open store', () => {
  it('returns space during concurrent writes, and loses nothing', async () => {
    await withStore(async (storage, dir) => {
      await fragment(storage)
      const before = sizeOf(dir)
      const from = storage.revision
      const watcher = storage.watch({ prefix: '/', from })
      let isDone = false
      const writers = Array.from({ length: 32 }, async (_, hand) => {
        const acknowledged: number[] = []
        for (let n = 0; !isDone || n < 20; n++) {
          const result = await storage.put(`/b/${hand}/${n % 7}`, value(n))
          if (result.outcome === 'written') acknowledged.push(result.entry.revision)
        }
        return acknowledged
      })
      await Promise.all([storage.defragment?.(), storage.defragment?.()])
      isDone = true
      const acknowledged = (await Promise.all(writers)).flat().sort((one, other) => one - other)
      expect(acknowledged).toEqual(Array.from({ length: storage.revision - from }, (_, n) => from + 1 + n))
      const events = await takeUntil(watcher, acknowledged.length)
      expect(events.map(({ revision }) => revision)).toEqual(acknowledged)
      // Past values are read from the new file.
      expect((await storage.get('/b/0/0', { at: acknowledged.at(-1)! }))?.value.length).toBe(2000)
      for (const { entry } of events) expect(entry.value.length).toBe(2000)
      expect(besides(dir)).toEqual([])
      const expected = (await storage.list({ prefix: '/' })).entries.map(({ key, revision }) => [key, revision])
      await storage.compact(storage.revision)
      await storage.defragment?.()
      expect(sizeOf(dir)).toBeLessThan(before / 4)
      await put(storage, '/c', 'last')
      await storage.close()
      const again = await lmdbStorage({ dir })
      const found = (await again.list({ prefix: '/' })).entries.map(({ key, revision }) => [key, revision])
      expect(found).toEqual([...expected, ['/c', again.revision]])
      await again.close()
    })
  })

  it('does not restore entries that are deleted and compacted during the copy', async () => {
    await withStore(async (storage, dir) => {
      const choices = new RandomChoices(1)
      let isDone = false
      const hands = Array.from({ length: 16 }, async (_, hand) => {
        while (!isDone) {
          const key = `/a/${hand}/${choices.below(10)}`
          await (choices.chance(50) ? storage.delete(key, value(1)) : storage.put(key, value(2)))
          if (choices.chance(30)) await storage.compact(storage.revision)
        }
      })
      for (let round = 0; round < 20; round++) await storage.defragment?.()
      isDone = true
      await Promise.all(hands)
      const stateOf = async (of: Storage) => (await of.list({ prefix: '/' })).entries.map(({ key, revision }) => [key, revision])
      const expected = await stateOf(storage)
      await storage.close()
      const again = await lmdbStorage({ dir })
      expect(await stateOf(again)).toEqual(expected)
      await again.close()
    })
  })

  it('keeps the store locked', async () => {
    await withStore(async (storage, dir) => {
      await put(storage, '/a', '1')
      await storage.defragment?.()
      expect(await failureOf(() => lmdbStorage({ dir }))).toMatchObject({ reason: 'locked' })
      await put(storage, '/a', '2')
      await storage.close()
    })
  })

  it('fails without harm when the copy cannot be made, or the store closes', async () => {
    await withStore(async (storage, dir) => {
      await fragment(storage)
      const copy = `${dir}.compacted-${process.pid}`
      writeFileSync(copy, '')
      expect(await failureOf(() => storage.defragment!())).toMatchObject({ code: 'Unavailable', reason: 'access' })
      await put(storage, '/b', '1')
      renameSync(copy, `${copy}.moved`)
      const failing = failureOf(() => storage.defragment!())
      await storage.close()
      expect(await failing).toMatchObject({ code: 'Closed' })
      expect(besides(dir)).toEqual([`${basename(copy)}.moved`])
      const again = await lmdbStorage({ dir })
      expect(again.count('/')).toBe(101)
      await again.close()
    })
  })

  it('does nothing in memory', async () => {
    const storage = memoryStorage()
    await storage.defragment?.()
    await storage.close()
  })
})

describe('a crash while a copy takes the place of a store', () => {
  it('is repaired at the next opening', async () => {
    await withStore(async (storage, dir) => {
      await put(storage, '/a', '1')
      await storage.close()
      renameSync(dir, `${dir}.former-123`)
      mkdirSync(`${dir}.compacted-123`)
      const again = await lmdbStorage({ dir })
      expect(again.count('/')).toBe(1)
      await again.close()
      expect(besides(dir)).toEqual([])
      // The crash happened after the replacement: the former store is not used again.
      mkdirSync(`${dir}.former-123`)
      writeFileSync(join(`${dir}.former-123`, 'data.mdb'), readFileSync(join(dir, 'data.mdb')))
      await (await lmdbStorage({ dir })).close()
      expect(besides(dir)).toEqual([])
    })
  })
})
