import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Storage } from '../interfaces.ts'
import { formatEntries, put, remove, takeUntil } from '../testing/harness.ts'
import { withTempDir } from '../testing/temp-dir.ts'
import { backupLmdb, restoreLmdb } from './backup.ts'
import { lmdbStorage } from './lmdb-storage.ts'

async function backup(dir: string): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  await backupLmdb({
    dir,
    write: async (chunk) => {
      chunks.push(chunk)
    },
  })
  return Buffer.concat(chunks)
}

/** Chunks whose size does not align with any part of the format. */
async function* chunksOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1001) yield bytes.subarray(at, at + 1001)
}

const restore = (dir: string, bytes: Buffer) => restoreLmdb({ dir, chunks: chunksOf(bytes) })
const contentOf = async (storage: Storage) => formatEntries((await storage.list({ prefix: '/' })).entries)

async function fill(dir: string): Promise<void> {
  const storage = await lmdbStorage({ dir })
  await put(storage, '/a/x', '1')
  await put(storage, '/a/y', '2')
  await storage.compact(3)
  await put(storage, '/a/x', '3')
  await remove(storage, '/a/y')
  await put(storage, '/b/\u754c', '4'.repeat(5000))
  await storage.close()
}

describe('backupLmdb and restoreLmdb', () => {
  it('restore objects, revisions and the event window', async () => {
    await withTempDir(async (dir) => {
      await fill(join(dir, 'from'))
      expect(await restore(join(dir, 'to'), await backup(join(dir, 'from')))).toEqual({ revision: 6, records: 5 })
      const [from, to] = [await lmdbStorage({ dir: join(dir, 'from') }), await lmdbStorage({ dir: join(dir, 'to') })]
      expect([to.revision, to.compacted, await contentOf(to)]).toEqual([6, 3, await contentOf(from)])
      const events = (storage: Storage) => takeUntil(storage.watch({ prefix: '/', from: 3 }), 3)
      expect(await events(to)).toEqual(await events(from))
      expect((await put(to, '/c', '5')).revision).toBe(7)
      await from.close()
      await to.close()
      expect(statSync(join(dir, 'to')).mode & 0o777).toBe(0o700)
    })
  })

  it('back up one revision of a store during concurrent writes', async () => {
    await withTempDir(async (dir) => {
      const storage = await lmdbStorage({ dir: join(dir, 'from') })
      await Promise.all(Array.from({ length: 3000 }, (_, n) => put(storage, `/a/${n}`, String(n))))
      const { revision } = storage
      const before = await contentOf(storage)
      const chunks: Uint8Array[] = []
      let isFirst = true
      await backupLmdb({
        dir: join(dir, 'from'),
        write: async (chunk) => {
          chunks.push(chunk)
        },
        onProgress: () => {
          if (!isFirst) return
          isFirst = false
          for (let n = 0; n < 3000; n += 3) void put(storage, `/a/${n}`, 'later')
        },
      })
      expect(isFirst).toBe(false)
      await put(storage, '/z', 'last')
      await storage.compact(storage.revision)
      await storage.close()
      expect(await restore(join(dir, 'to'), Buffer.concat(chunks))).toMatchObject({ revision })
      const to = await lmdbStorage({ dir: join(dir, 'to') })
      expect(await contentOf(to)).toEqual(before)
      await to.close()
    })
  })

  it('restore an empty store', async () => {
    await withTempDir(async (dir) => {
      await (await lmdbStorage({ dir: join(dir, 'from') })).close()
      expect(await restore(join(dir, 'to'), await backup(join(dir, 'from')))).toEqual({ revision: 1, records: 0 })
    })
  })
})

describe('restoreLmdb', () => {
  it('refuses a folder with files and does not change it', async () => {
    await withTempDir(async (dir) => {
      await fill(join(dir, 'from'))
      const bytes = await backup(join(dir, 'from'))
      await expect(restore(join(dir, 'from'), bytes)).rejects.toMatchObject({ detail: { reason: 'foreign' } })
      expect(await backup(join(dir, 'from'))).toEqual(bytes)
      mkdirSync(join(dir, 'empty'))
      expect(await restore(join(dir, 'empty'), bytes)).toMatchObject({ revision: 6 })
    })
  })

  it('reports every flipped bit and every torn tail, and leaves nothing', async () => {
    await withTempDir(async (dir) => {
      await fill(join(dir, 'from'))
      const bytes = await backup(join(dir, 'from'))
      const damaged: Buffer[] = [0, 14, 16, 20, 27, 30, 60, 400, bytes.length - 40, bytes.length - 1].map((at) => {
        const copy = Buffer.from(bytes)
        copy[at]! ^= 4
        return copy
      })
      damaged.push(...[0, 5, 16, 20, 300, bytes.length - 33, bytes.length - 1].map((size) => bytes.subarray(0, size)))
      damaged.push(Buffer.concat([bytes, Buffer.from('x')]))
      for (const [n, copy] of damaged.entries()) {
        await expect(restore(join(dir, 'to'), copy), `case ${n}`).rejects.toMatchObject({
          code: 'Unavailable',
          detail: { reason: expect.stringMatching(/^(?:corrupt|foreign)$/) },
        })
        expect(readdirSync(dir)).toEqual(['from'])
      }
    })
  })

  it('reports a backup of a newer format', async () => {
    await withTempDir(async (dir) => {
      await expect(restore(join(dir, 'to'), Buffer.from('krmkit-backup 2\nmore'))).rejects.toMatchObject({
        detail: { reason: 'foreign', problem: expect.stringContaining('newer format') },
      })
    })
  })

  it('reports a folder that cannot be written', async () => {
    await withTempDir(async (dir) => {
      writeFileSync(join(dir, 'file'), '')
      await expect(restore(join(dir, 'file', 'to'), Buffer.from(''))).rejects.toMatchObject({ detail: { reason: 'access' } })
    })
  })
})

describe('backupLmdb', () => {
  it('reports a folder without a store and creates nothing', async () => {
    await withTempDir(async (dir) => {
      await expect(backup(join(dir, 'none'))).rejects.toMatchObject({ detail: { reason: 'access' } })
      expect(existsSync(join(dir, 'none'))).toBe(false)
    })
  })
})
