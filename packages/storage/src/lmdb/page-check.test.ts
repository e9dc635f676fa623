import { join } from 'node:path'
import { RandomChoices } from '@krmkit/base/random-choices'
import { describe, expect, it } from 'vitest'
import { put, remove } from '../testing/harness.ts'
import { withTempDir } from '../testing/temp-dir.ts'
import { lmdbStorage } from './lmdb-storage.ts'
import { checkPages } from './page-check.ts'

const pageSize = 8192

/** A store with several levels, large values and free pages. */
async function fill(dir: string, rounds: number): Promise<void> {
  const choices = new RandomChoices(5)
  const storage = await lmdbStorage({ dir })
  for (let round = 0; round < rounds; round++) {
    await Promise.all(
      Array.from({ length: 100 }, () =>
        storage.put(`/a/${choices.below(200)}`, () => new Uint8Array(choices.chance(5) ? 30_000 : choices.below(2000)).fill(120)),
      ),
    )
    await remove(storage, (await storage.list({ prefix: '/a/', limit: 1 })).entries[0]!.key)
    if (round % 4 === 3) await storage.compact(storage.revision - 50)
  }
  await storage.close()
}

describe('checkPages', () => {
  it('accepts a file after hundreds of transactions with concurrent readers', async () => {
    await withTempDir(async (dir) => {
      const storage = await lmdbStorage({ dir })
      for (let n = 0; n < 600; n++) {
        await put(storage, `/a/${n % 50}`, `${n} ${'x'.repeat(300)}`)
        if (n % 25 === 0) await storage.compact(storage.revision)
        if (n % 25 === 5) expect(() => checkPages(join(dir, 'data.mdb'), pageSize), `write ${n}`).not.toThrow()
      }
      await storage.close()
      expect(() => checkPages(join(dir, 'data.mdb'), pageSize)).not.toThrow()
    })
  })

  it('accepts the files of new, small and large stores, each after reopening', async () => {
    for (const rounds of [0, 1, 3, 40]) {
      await withTempDir(async (dir) => {
        await fill(dir, rounds)
        const path = join(dir, 'data.mdb')
        expect(() => checkPages(path, pageSize), `${rounds} rounds`).not.toThrow()
        const storage = await lmdbStorage({ dir })
        await put(storage, '/b', 'more')
        await storage.close()
        expect(() => checkPages(path, pageSize), `${rounds} rounds, and one write`).not.toThrow()
      })
    }
  })
})
