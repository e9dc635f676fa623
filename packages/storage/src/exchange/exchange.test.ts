import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Storage } from '../interfaces.ts'
import { lmdbStorage } from '../lmdb/lmdb-storage.ts'
import { memoryStorage } from '../memory/memory-storage.ts'
import { exportStorage, importStorage } from './exchange.ts'
import { exportLmdb, importLmdb } from './lmdb-exchange.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'krmkit-exchange-'))
})
afterEach(() => rm(folder, { recursive: true }))

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (value: Uint8Array | undefined) => new TextDecoder().decode(value)
const key = (name: string) => `/core/configmaps/shop/${name}`

/** Collects written bytes; `chunks` returns them in small pieces. */
function sink() {
  const written: Buffer[] = []
  const all = () => Buffer.concat(written)
  const write = async (chunk: Uint8Array) => void written.push(Buffer.from(chunk))
  async function* chunks(of: Buffer = all()) {
    for (let at = 0; at < of.length; at += 7) yield of.subarray(at, at + 7)
  }
  return { write, chunks, all }
}

async function fill(storage: Storage): Promise<void> {
  await storage.put(key('a'), (revision) => bytes(`{"n":12345678901234567890,"text":"é \\",\\"value\\":\\"x","v":${revision}}`))
  await storage.put(key('b'), () => bytes('{}'))
  await storage.put(key('b'), () => bytes('{"second":true}'))
  await storage.put(key('gone'), () => bytes('{}'))
  await storage.put('/krmkit/mark', () => new Uint8Array([0, 255, 10]))
  await storage.put('/core/rangeallocations/serviceips', () => bytes('{}'))
  await storage.delete(key('gone'), () => bytes('{}'))
}

const stateOf = async (storage: Storage) => {
  const { entries, revision } = await storage.list({ prefix: '/' })
  return {
    revision,
    entries: entries.map(({ key, revision, created, value }) => ({ key, revision, created, value: text(value) })),
  }
}

describe('an export', () => {
  it('moves the objects of an embedded store to another one with their revisions', async () => {
    const from = await lmdbStorage({ dir: join(folder, 'from') })
    await fill(from)
    const before = await stateOf(from)
    const { all, chunks, write } = sink()
    // The store is exported while it is in use.
    expect(await exportLmdb({ dir: join(folder, 'from'), write })).toEqual({ revision: from.revision, entries: 3 })
    await from.close()
    const lines = all().toString().trimEnd().split('\n')
    expect(JSON.parse(lines[0]!)).toEqual({ krmkitExport: 1, revision: before.revision })
    expect(lines.slice(1, -1).map((line) => JSON.parse(line).key)).toEqual([key('a'), key('b'), '/krmkit/mark'])
    await importLmdb({ dir: join(folder, 'to'), chunks: chunks() })
    await using to = await lmdbStorage({ dir: join(folder, 'to') })
    expect(await stateOf(to)).toEqual({
      revision: before.revision,
      entries: before.entries.filter((entry) => !entry.key.startsWith('/core/rangeallocations/')),
    })
    expect(to.revision).toBe(before.revision)
    expect(text(to.peek(key('a'))?.value)).toContain('12345678901234567890')
    const { outcome } = await to.put(key('c'), () => bytes('{}'), { expect: 0 })
    expect([outcome, to.revision]).toEqual(['written', before.revision + 1])
  })

  it('creates the objects in an open store, where they get new revisions', async () => {
    const from = memoryStorage()
    await fill(from)
    const { chunks, write } = sink()
    await exportStorage(from, { write })
    const to = memoryStorage()
    const atRevision = (_key: string, value: Uint8Array, revision: number) => bytes(`${text(value)} at ${revision}`)
    expect(await importStorage(to, { chunks: chunks(), atRevision })).toMatchObject({ entries: 3 })
    expect(text(to.peek(key('b'))?.value)).toBe(`{"second":true} at ${to.peek(key('b'))?.revision}`)
    await expect(importStorage(to, { chunks: chunks() })).rejects.toMatchObject({ detail: { reason: 'foreign' } })
  })

  it('is refused when it is damaged, incomplete, newer or something else, and leaves no store', async () => {
    const from = memoryStorage()
    await fill(from)
    const { all, chunks, write } = sink()
    await exportStorage(from, { write })
    const dir = join(folder, 'to')
    const refusing = async (altered: Buffer, reason: string) =>
      expect(importLmdb({ dir, chunks: chunks(altered) })).rejects.toMatchObject({ detail: { reason } })
    await refusing(Buffer.from(all().toString().replace('second', 'Second')), 'corrupt')
    await refusing(all().subarray(0, -90), 'corrupt')
    await refusing(Buffer.from(all().toString().replace('"krmkitExport":1', '"krmkitExport":2')), 'foreign')
    await refusing(Buffer.from('{"kind":"List"}\n'), 'foreign')
    await refusing(Buffer.from(''), 'foreign')
    await importLmdb({ dir, chunks: chunks() })
    await expect(importLmdb({ dir, chunks: chunks() })).rejects.toMatchObject({ detail: { reason: 'foreign' } })
  })
})
