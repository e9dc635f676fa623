import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Entry, Storage } from '../interfaces.ts'
import { StorageError, type StorageErrorDetail } from '../storage-error.ts'
import { formatEntries, put, text } from '../testing/harness.ts'
import { withTempDir } from '../testing/temp-dir.ts'
import { identityTransformer } from '../value-transformer.ts'
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

  it('rejects a directory with other files and does not change them', async () => {
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

  it('reports a torn tail, or serves everything when only unused bytes are gone', async () => {
    await withTempDir(async (dir) => {
      const from = join(dir, 'from')
      await fill(from, 300)
      const bytes = readFileSync(join(from, 'data.mdb'))
      const outcomes = new Set<string>()
      for (const gone of [1, 100, 4096, 8191, 8192, 8193, 3 * 8192, 100_000, 250_000]) {
        const path = join(dir, `torn-${gone}`)
        mkdirSync(path)
        writeFileSync(join(path, 'data.mdb'), bytes.subarray(0, bytes.length - gone))
        const storage = await lmdbStorage({ dir: path }).catch((error: unknown) => error)
        if (storage instanceof StorageError) {
          expect(storage.detail, `${gone} bytes`).toMatchObject({ code: 'Unavailable', reason: 'corrupt' })
          outcomes.add('reported')
          continue
        }
        const { entries } = await (storage as Storage).list({ prefix: '/' })
        expect(entries.map(({ key, value }) => `/a/${value[0]}` === key || Number(key.slice(3)) > 255)).not.toContain(false)
        expect(entries.length, `${gone} bytes`).toBe(300)
        outcomes.add('whole')
        await (storage as Storage).close()
      }
      expect(outcomes).toContain('reported')
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

  it('reports its size, used bytes, disk space, commits and history', async () => {
    await withTempDir(async (dir) => {
      const storage = await lmdbStorage({ dir })
      const write = () => Promise.all(Array.from({ length: 500 }, (_, n) => storage.put(`/a/${n}`, () => new Uint8Array(1000))))
      await write()
      await write()
      const before = storage.stats?.()
      expect(before?.history).toEqual({ revisions: 1000, bytes: expect.any(Number) })
      expect(before?.history.bytes).toBeGreaterThan(500_000)
      expect(before?.journal?.usedBytes).toBeGreaterThan(1_000_000)
      expect(before?.journal?.fileBytes).toBe(statSync(join(dir, 'data.mdb')).size)
      expect(before?.journal?.diskAvailableBytes).toBeGreaterThan(0)
      expect(before?.journal?.commits.total).toBeGreaterThan(1)
      expect(before?.journal?.commits.counts.reduce((sum, count) => sum + count, 0)).toBe(before?.journal?.commits.total)
      expect(before?.journal?.failedCommits).toBe(0)
      await storage.compact(storage.revision)
      const after = storage.stats?.()
      expect(after?.history).toEqual({ revisions: 0, bytes: 0 })
      expect(after?.journal?.usedBytes).toBeLessThan(before!.journal!.usedBytes)
      await storage.close()
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

describe('values in memory', () => {
  const value = (n: number) => () => new TextEncoder().encode(`{"n":${n}}`)
  const shown = (entry: Entry) => new TextDecoder().decode(entry.value)
  const isInMemory = (entry: Entry) => {
    const { value } = entry
    return value === entry.value
  }

  /** Creates a superseded value, with enough later writes that it is released. */
  async function supersede(storage: Storage): Promise<Entry> {
    const first = await storage.put('/a', value(1))
    await storage.put('/a', value(2))
    for (let n = 0; n < 300; n++) await storage.put(`/other/${n}`, value(n))
    if (first.outcome !== 'written') throw new Error('not written')
    return first.entry
  }

  it('are released once they are superseded, and loaded again before their records are removed', async () => {
    await withTempDir(async (dir) => {
      const storage = await lmdbStorage({ dir })
      const past = await supersede(storage)
      expect([isInMemory(past), shown(past)]).toEqual([false, '{"n":1}'])
      expect((await storage.get('/a', { at: past.revision }))?.value).toEqual(past.value)
      expect(isInMemory(storage.peek('/a')!)).toBe(true)
      await storage.compact(storage.revision)
      expect([isInMemory(past), shown(past)]).toEqual([true, '{"n":1}'])
      await storage.close()
      expect(shown(past)).toBe('{"n":1}')
    })
  })

  it('are released after a deletion', async () => {
    await withTempDir(async (dir) => {
      const storage = await lmdbStorage({ dir })
      await storage.put('/gone', value(1))
      const watcher = storage.watch({ prefix: '/gone', from: storage.revision })
      await storage.delete('/gone', value(2))
      const [event] = watcher.take()
      await supersede(storage)
      expect([event!.entry, event!.previous!].map((entry) => [isInMemory(entry), shown(entry)])).toEqual([
        [false, '{"n":2}'],
        [false, '{"n":1}'],
      ])
      await storage.close()
    })
  })

  it('are kept when they are encrypted, because their key may be removed', async () => {
    await withTempDir(async (dir) => {
      const storage = await lmdbStorage({ dir, transformer: { ...identityTransformer } })
      const past = await supersede(storage)
      expect([isInMemory(past), shown(past)]).toEqual([true, '{"n":1}'])
      await storage.close()
    })
  })

  it('are read on first access after a restart', async () => {
    await withTempDir(async (dir) => {
      const before = await lmdbStorage({ dir })
      await supersede(before)
      await before.close()
      const storage = await lmdbStorage({ dir })
      const current = storage.peek('/a')!
      expect([isInMemory(current), shown(current)]).toEqual([true, '{"n":2}'])
      const past = (await storage.get('/a', { at: 2 }))!
      expect([isInMemory(past), shown(past)]).toEqual([false, '{"n":1}'])
      const unread = storage.peek('/other/7')!
      await storage.close()
      expect(() => unread.value).toThrow('closed')
    })
  })
})
