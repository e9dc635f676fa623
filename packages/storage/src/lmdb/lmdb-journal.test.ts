import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Storage } from '../interfaces.ts'
import { StorageError, type StorageErrorDetail } from '../storage-error.ts'
import { formatEntries, put, text } from '../testing/harness.ts'
import { withTempDir } from '../testing/temp-dir.ts'
import { lmdbStorage } from './lmdb-storage.ts'

async function opening(dir: string): Promise<StorageErrorDetail | 'opened'> {
  let storage: Storage
  try {
    storage = await lmdbStorage({ dir })
  } catch (error) {
    if (error instanceof StorageError) return error.detail
    throw error
  }
  await storage.close()
  return 'opened'
}

async function fill(dir: string, count: number): Promise<void> {
  const storage = await lmdbStorage({ dir })
  await Promise.all(Array.from({ length: count }, (_, n) => storage.put(`/a/${n}`, () => new Uint8Array(1000).fill(n))))
  await storage.close()
}

describe('opening a directory', () => {
  it('creates a missing directory of any name', async () => {
    await withTempDir(async (dir) => {
      for (const name of ['new', join('deep', 'er'), 'with.extension', 'with space \u754c']) {
        expect(await opening(join(dir, name))).toBe('opened')
        expect(readdirSync(join(dir, name)).sort()).toEqual(['data.mdb', 'lock.mdb'])
        expect(await opening(join(dir, name))).toBe('opened')
      }
    })
  })

  it('rejects a directory with other files and leaves them alone', async () => {
    await withTempDir(async (dir) => {
      writeFileSync(join(dir, 'notes.txt'), 'mine')
      expect(await opening(dir)).toMatchObject({ code: 'Unavailable', reason: 'foreign' })
      expect(readdirSync(dir)).toEqual(['notes.txt'])
    })
  })

  it('rejects paths that are not and cannot become a directory', async () => {
    await withTempDir(async (dir) => {
      writeFileSync(join(dir, 'file'), '')
      expect(await opening(join(dir, 'file'))).toMatchObject({ code: 'Unavailable', reason: 'access' })
      expect(await opening(join(dir, 'file', 'below'))).toMatchObject({ code: 'Unavailable', reason: 'access' })
    })
  })

  it('rejects a data file of another program', async () => {
    await withTempDir(async (dir) => {
      const contents = [Buffer.from('short'), Buffer.alloc(100_000), Buffer.alloc(100_000, 'SQLite format 3'), Buffer.from([1])]
      for (const [n, bytes] of contents.entries()) {
        const path = join(dir, String(n))
        mkdirSync(path)
        writeFileSync(join(path, 'data.mdb'), bytes)
        expect(await opening(path)).toMatchObject({ code: 'Unavailable', reason: 'foreign' })
        expect(readFileSync(join(path, 'data.mdb'))).toEqual(bytes)
      }
    })
  })

  it('rejects the LMDB environment of another program and adds nothing to it', async () => {
    await withTempDir(async (dir) => {
      const { open } = await import('lmdb')
      const other = open({ path: dir, noSubdir: false, maxDbs: 4 })
      const table = other.openDB({ name: 'theirs' })
      await table.put('key', 'value')
      await other.close()
      expect(await opening(dir)).toMatchObject({ code: 'Unavailable', reason: 'foreign' })
      const again = open({ path: dir, noSubdir: false, maxDbs: 4 })
      expect([...again.getKeys()]).toEqual(['theirs'])
      await again.close()
    })
  })

  it('rejects a newer format', async () => {
    await withTempDir(async (dir) => {
      await fill(dir, 1)
      const { open } = await import('lmdb')
      const root = open({ path: dir, noSubdir: false, maxDbs: 4, encoding: 'binary' })
      await root.openDB({ name: 'facts', encoding: 'binary' }).put('format', Buffer.from('krmkit-storage 3'))
      await root.close()
      expect(await opening(dir)).toMatchObject({
        code: 'Unavailable',
        reason: 'foreign',
        problem: expect.stringContaining('"krmkit-storage 3"'),
      })
    })
  })

  it('upgrades a store of format 1, whose records have no checksums', async () => {
    await withTempDir(async (dir) => {
      await fill(dir, 0)
      const { open } = await import('lmdb')
      const asBinary = { encoding: 'binary' } as const
      const root = open({ path: dir, noSubdir: false, maxDbs: 4, ...asBinary })
      const key = Buffer.from('/a')
      const header = Buffer.alloc(13)
      header.writeUInt8(1, 0)
      header.writeUInt32LE(key.length, 1)
      header.writeDoubleLE(2, 5)
      await root.openDB('facts', asBinary).put('format', Buffer.from('krmkit-storage 1'))
      await root.openDB('records', asBinary).put(2, Buffer.concat([header, key, Buffer.from('old')]))
      await root.close()
      const storage = await lmdbStorage({ dir })
      await put(storage, '/b', 'new')
      await storage.close()
      const again = await lmdbStorage({ dir })
      expect(formatEntries((await again.list({ prefix: '/' })).entries)).toEqual(['/a=old@2', '/b=new@3'])
      await again.close()
      const upgraded = open({ path: dir, noSubdir: false, maxDbs: 4, ...asBinary })
      expect(upgraded.openDB('facts', asBinary).get('format')?.toString()).toBe('krmkit-storage 2')
      await upgraded.close()
    })
  })

  it('reports a flipped bit in a value', async () => {
    await withTempDir(async (dir) => {
      await fill(dir, 50)
      const bytes = readFileSync(join(dir, 'data.mdb'))
      const at = bytes.indexOf(Buffer.alloc(1000, 7))
      expect(at).toBeGreaterThan(0)
      bytes[at + 500]! ^= 1
      writeFileSync(join(dir, 'data.mdb'), bytes)
      expect(await opening(dir)).toMatchObject({ code: 'Unavailable', reason: 'corrupt' })
    })
  })

  it('continues after an interrupted creation', async () => {
    await withTempDir(async (dir) => {
      writeFileSync(join(dir, 'data.mdb'), '')
      writeFileSync(join(dir, 'lock.mdb'), '')
      expect(await opening(dir)).toBe('opened')
    })
    await withTempDir(async (dir) => {
      const { open } = await import('lmdb')
      const root = open({ path: dir, noSubdir: false, maxDbs: 2, encoding: 'binary', overlappingSync: false })
      root.openDB({ name: 'facts', encoding: 'binary' })
      await root.close()
      expect(await opening(dir)).toBe('opened')
    })
  })

  it('reports a truncated or overwritten file as corrupt', async () => {
    await withTempDir(async (dir) => {
      const sizes = [5000, 8192, 8192 + 100, 200_000]
      for (const size of sizes) {
        const path = join(dir, `cut-${size}`)
        await fill(path, 2000)
        truncateSync(join(path, 'data.mdb'), size)
        expect(await opening(path), `cut to ${size}`).toMatchObject({ code: 'Unavailable', reason: 'corrupt' })
      }
      const path = join(dir, 'overwritten')
      await fill(path, 2000)
      const bytes = readFileSync(join(path, 'data.mdb'))
      bytes.fill(0, 3 * 8192, bytes.length - 8192)
      writeFileSync(join(path, 'data.mdb'), bytes)
      expect(await opening(path)).toMatchObject({ code: 'Unavailable', reason: 'corrupt' })
    })
  })

  it('rejects a directory that is open in this process', async () => {
    await withTempDir(async (dir) => {
      const storage = await lmdbStorage({ dir })
      await put(storage, '/a', '1')
      expect(await opening(dir)).toEqual({ code: 'Unavailable', reason: 'locked', problem: `${dir} is in use by this process` })
      await put(storage, '/a', '2')
      expect(await opening(dir)).toMatchObject({ reason: 'locked' })
      await storage.close()
      expect(await opening(dir)).toBe('opened')
    })
  })

  it('opens two directories at once', async () => {
    await withTempDir(async (dir) => {
      const [one, other] = [await lmdbStorage({ dir: join(dir, 'one') }), await lmdbStorage({ dir: join(dir, 'other') })]
      await Promise.all([put(one, '/a', '1'), put(other, '/a', '2')])
      expect([
        formatEntries((await one.list({ prefix: '/' })).entries),
        formatEntries((await other.list({ prefix: '/' })).entries),
      ]).toEqual([['/a=1@2'], ['/a=2@2']])
      await one.close()
      await other.close()
    })
  })
})

describe('the data file', () => {
  it('stores records of any size and number in one commit', async () => {
    await withTempDir(async (dir) => {
      const storage = await lmdbStorage({ dir })
      const sizes = [0, 1, 2000, 4000, 4090, 8192, 100_000, 3_000_000]
      await Promise.all(sizes.map((size) => storage.put(`/size/${size}`, () => new Uint8Array(size).fill(size % 256))))
      await Promise.all(Array.from({ length: 20_000 }, (_, n) => storage.put(`/many/${n}`, text(String(n)))))
      await storage.close()
      const again = await lmdbStorage({ dir })
      for (const size of sizes)
        expect(Buffer.from(again.peek(`/size/${size}`)!.value).equals(Buffer.alloc(size, size % 256))).toBe(true)
      expect(again.count('/many/')).toBe(20_000)
      await again.close()
    })
  })

  it('reuses the space of compacted records', async () => {
    await withTempDir(async (dir) => {
      const storage = await lmdbStorage({ dir })
      const write = async () => {
        for (let n = 0; n < 10; n++) {
          await Promise.all(Array.from({ length: 100 }, (_, key) => storage.put(`/a/${key}`, () => new Uint8Array(1000))))
        }
        await storage.compact(storage.revision)
        return statSync(join(dir, 'data.mdb')).size
      }
      await write()
      const early = await write()
      for (let n = 0; n < 5; n++) await write()
      expect(await write()).toBeLessThan(early * 2)
      await storage.close()
    })
  })
})
