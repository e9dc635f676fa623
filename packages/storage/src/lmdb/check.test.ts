import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { put, remove } from '../testing/harness.ts'
import { withTempDir } from '../testing/temp-dir.ts'
import { backupLmdb } from './backup.ts'
import { checkLmdb } from './check.ts'
import { lmdbStorage } from './lmdb-storage.ts'

async function fill(dir: string): Promise<void> {
  const storage = await lmdbStorage({ dir })
  for (let n = 0; n < 50; n++) await put(storage, `/a/${n}`, `value ${n} ${'x'.repeat(100)}`)
  await storage.compact(20)
  await remove(storage, '/a/7')
  await storage.close()
}

/** Flips one bit of the data file. */
function flip(dir: string, text: string): void {
  const path = join(dir, 'data.mdb')
  const bytes = readFileSync(path)
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) bytes[at]! ^= 1
  writeFileSync(path, bytes)
}

describe('checkLmdb', () => {
  it('finds nothing in a sound store, also while it is in use', async () => {
    await withTempDir(async (dir) => {
      await fill(dir)
      expect(await checkLmdb({ dir })).toEqual({ revision: 52, records: 51, problems: [] })
      const storage = await lmdbStorage({ dir })
      expect(await checkLmdb({ dir })).toMatchObject({ problems: [] })
      await put(storage, '/b', 'after')
      await storage.close()
    })
  })

  it('names every record with a flipped bit by key and revision', async () => {
    await withTempDir(async (dir) => {
      await fill(dir)
      flip(dir, 'value 3 ')
      flip(dir, 'value 41 ')
      expect((await checkLmdb({ dir })).problems).toEqual([
        { revision: 5, key: '/a/3', problem: 'the record is damaged' },
        { revision: 43, key: '/a/41', problem: 'the record is damaged' },
      ])
      await expect(backupLmdb({ dir, write: async () => undefined })).rejects.toMatchObject({ detail: { reason: 'corrupt' } })
    })
  })

  it('names values that cannot be decoded', async () => {
    await withTempDir(async (dir) => {
      await fill(dir)
      const decode = ({ key }: { key: string }) => {
        if (key === '/a/8') throw new Error('not JSON')
      }
      expect((await checkLmdb({ dir, decode })).problems).toEqual([
        { revision: 10, key: '/a/8', problem: 'the value cannot be decoded: not JSON' },
      ])
    })
  })

  it('names a gap in the history', async () => {
    await withTempDir(async (dir) => {
      await fill(dir)
      const { open } = await import('lmdb')
      const root = open({ path: dir, noSubdir: false, maxDbs: 2, encoding: 'binary' })
      await root.openDB('records', { encoding: 'binary' }).remove(30)
      await root.close()
      expect((await checkLmdb({ dir })).problems).toEqual([{ revision: 30, problem: 'records are missing before revision 31' }])
    })
  })

  it('reports a torn file', async () => {
    await withTempDir(async (dir) => {
      await fill(dir)
      truncateSync(join(dir, 'data.mdb'), 8192 + 100)
      expect((await checkLmdb({ dir })).problems).toEqual([{ problem: expect.stringContaining('corrupt at the start') }])
    })
  })

  it('reports a folder without a store as an error', async () => {
    await withTempDir(async (dir) => {
      await expect(checkLmdb({ dir })).rejects.toMatchObject({ detail: { reason: 'access' } })
    })
  })
})
