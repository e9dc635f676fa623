import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatEntries, put } from '../testing/harness.ts'
import { withTempDir } from '../testing/temp-dir.ts'
import { compactLmdb } from './compact.ts'
import { lmdbStorage } from './lmdb-storage.ts'

async function fill(dir: string): Promise<string[]> {
  const storage = await lmdbStorage({ dir })
  for (let n = 0; n < 20; n++) {
    await Promise.all(Array.from({ length: 100 }, (_, key) => storage.put(`/a/${key}`, () => new Uint8Array(2000).fill(n))))
  }
  await storage.compact(storage.revision)
  const content = formatEntries((await storage.list({ prefix: '/' })).entries)
  await storage.close()
  return content
}

describe('compactLmdb', () => {
  it('makes the data file smaller and keeps objects and revisions', async () => {
    await withTempDir(async (parent) => {
      const dir = join(parent, 'data')
      const content = await fill(dir)
      const sizeOf = () => statSync(join(dir, 'data.mdb')).size
      const before = sizeOf()
      await compactLmdb({ dir })
      expect(sizeOf()).toBeLessThan(before / 2)
      expect(readdirSync(parent)).toEqual(['data'])
      const storage = await lmdbStorage({ dir })
      expect(formatEntries((await storage.list({ prefix: '/' })).entries)).toEqual(content)
      expect([storage.revision, storage.compacted]).toEqual([2001, 2001])
      expect((await put(storage, '/b', '1')).revision).toBe(2002)
      await storage.close()
    })
  })

  it('refuses a store in use and does not change it', async () => {
    await withTempDir(async (parent) => {
      const dir = join(parent, 'data')
      const storage = await lmdbStorage({ dir })
      await put(storage, '/a', '1')
      await expect(compactLmdb({ dir })).rejects.toMatchObject({ detail: { reason: 'locked' } })
      expect((await put(storage, '/a', '2')).revision).toBe(3)
      await storage.close()
      expect(readdirSync(parent)).toEqual(['data'])
    })
  })

  it('refuses a store with a flipped bit and does not change it', async () => {
    await withTempDir(async (parent) => {
      const dir = join(parent, 'data')
      await fill(dir)
      const path = join(dir, 'data.mdb')
      const bytes = readFileSync(path)
      for (let at = bytes.indexOf('/a/7'); at !== -1; at = bytes.indexOf('/a/7', at + 1)) bytes[at + 2]! ^= 1
      writeFileSync(path, bytes)
      await expect(compactLmdb({ dir })).rejects.toMatchObject({ detail: { reason: 'corrupt' } })
      expect(readdirSync(parent)).toEqual(['data'])
      expect(readFileSync(path).length).toBe(bytes.length)
    })
  })

  it('reports a folder without a store and creates nothing', async () => {
    await withTempDir(async (parent) => {
      await expect(compactLmdb({ dir: join(parent, 'none') })).rejects.toMatchObject({ detail: { reason: 'access' } })
      expect(readdirSync(parent)).toEqual([])
    })
  })
})
