import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { boltPages } from '../bbolt/bolt-writer.ts'
import { exportStorage, importStorage } from '../exchange/exchange.ts'
import type { ExportedEntry } from '../exchange/export-format.ts'
import { importLmdb } from '../exchange/lmdb-exchange.ts'
import { opaqueForm } from '../follower/stored-form.ts'
import type { Storage } from '../interfaces.ts'
import { lmdbStorage } from '../lmdb/lmdb-storage.ts'
import { memoryStorage } from '../memory/memory-storage.ts'
import { withTempDir } from '../testing/temp-dir.ts'
import { identityTransformer } from '../value-transformer.ts'
import { EtcdClient } from './etcd-client.ts'
import { type EtcdSnapshotOptions, etcdSnapshotFormat, isEtcdSnapshot, readEtcdSnapshot } from './etcd-snapshot.ts'
import { etcdStorage } from './etcd-storage.ts'
import { keyValue, storedLease } from './messages.ts'
import { writePosition } from './snapshot/snapshot-format.ts'
import { EtcdProcess, etcdProgram, withoutEtcd } from './testing/etcd-process.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (value: Uint8Array | undefined) => new TextDecoder().decode(value)
const fileOf = (all: Buffer) => ({ size: all.length, read: async (at: number, length: number) => all.subarray(at, at + length) })
const withChecksum = (all: Buffer) => Buffer.concat([all, createHash('sha256').update(all).digest()])

async function snapshotOf(storage: Storage, options: EtcdSnapshotOptions = {}): Promise<Buffer> {
  const parts: Uint8Array[] = []
  const write = async (chunk: Uint8Array) => void parts.push(chunk)
  await exportStorage(storage, { write, format: etcdSnapshotFormat(options) })
  return Buffer.concat(parts)
}

async function read(snapshot: Buffer, options: Parameters<typeof readEtcdSnapshot>[1] = {}) {
  const entries: ExportedEntry[] = []
  const reading = readEtcdSnapshot(fileOf(snapshot), options)
  for (;;) {
    const { value, done } = await reading.next()
    if (done === true) return { ...value, entries: entries.map(shown) }
    entries.push(value)
  }
}

const shown = ({ key, value, revision, created }: ExportedEntry) => ({ key, value: text(value), revision, created })

async function fill(storage: Storage): Promise<void> {
  for (let n = 0; n < 300; n++) await storage.put(`/core/configmaps/shop/${n}`, () => bytes(`{"n":${n}}`.padEnd(n * 20)))
  await storage.put('/core/configmaps/shop/7', () => bytes('{"second":true}'))
  await storage.put('/core/events/shop/one', () => bytes('{}'))
  await storage.put('/core/gone', () => bytes('{}'))
  await storage.delete('/core/gone', () => bytes('{}'))
}

const events = { ...opaqueForm, ttlSeconds: (key: string) => (key.startsWith('/core/events/') ? 3600 : undefined) }

/** A snapshot with these writes in its bucket of keys. */
function snapshotWith(writes: readonly { at: [revision: number, place: number]; key: string; value?: string }[]): Buffer {
  const entries = writes.map(({ at: [revision, place], key, value }) => {
    const position = writePosition({ revision, place })
    const deletion = Buffer.concat([position, Buffer.from('t')])
    const write = { key: bytes(key), create_revision: revision, mod_revision: revision, version: 1, value: bytes(value ?? '') }
    return value === undefined
      ? { key: deletion, value: keyValue.encode({ key: bytes(key) }) }
      : { key: position, value: keyValue.encode(write) }
  })
  return withChecksum(Buffer.concat([...boltPages({ key: entries, meta: [] })]))
}

describe('a snapshot of etcd', () => {
  it('contains the objects of a store with their revisions, and creates another store', async () => {
    const from = memoryStorage()
    await fill(from)
    const snapshot = await snapshotOf(from)
    expect([isEtcdSnapshot(snapshot), isEtcdSnapshot(bytes('{"krmkitExport":1}'))]).toEqual([true, false])
    const { entries } = await from.list({ prefix: '/' })
    const expected = entries.map(shown).sort((one, other) => one.revision - other.revision)
    expect(await read(snapshot)).toEqual({ revision: from.revision, entries: expected })
    await withTempDir(async (dir) => {
      await importLmdb({ dir, entries: readEtcdSnapshot(fileOf(snapshot)) })
      await using to = await lmdbStorage({ dir })
      expect([to.revision, (await to.list({ prefix: '/' })).entries.map(shown)]).toEqual([from.revision, entries.map(shown)])
      expect(to.peek('/core/configmaps/shop/7')?.created).toBe(from.peek('/core/configmaps/shop/7')?.created)
    })
  })

  it('gives keys with a limited lifetime a lease', async () => {
    const from = memoryStorage()
    await fill(from)
    const snapshot = await snapshotOf(from, { form: events })
    const lease = storedLease.encode({ ID: 1, TTL: 3600 })
    expect(snapshot.includes(lease)).toBe(true)
    expect((await snapshotOf(from)).includes(lease)).toBe(false)
  })

  it('is read at its newest revision: of several writes the last, without deleted keys', async () => {
    const snapshot = snapshotWith([
      { at: [2, 0], key: '/registry/a/one', value: 'first' },
      { at: [3, 0], key: '/registry/a/two', value: 'x' },
      { at: [4, 0], key: '/registry/a/one', value: 'second' },
      { at: [5, 0], key: '/registry/a/two' },
      { at: [6, 0], key: 'compact_rev_key', value: '5' },
      { at: [7, 0], key: '/registry/ranges/serviceips', value: '{}' },
    ])
    const form = { ...opaqueForm, collections: [{ prefix: '/core/rangeallocations/', path: 'ranges/' }] }
    expect(await read(snapshot, { form })).toEqual({
      revision: 7,
      entries: [{ key: '/a/one', value: 'second', revision: 4, created: 4 }],
    })
    expect((await read(snapshot, { prefix: '/other' })).entries).toEqual([])
  })

  it('gives the keys of one transaction different revisions', async () => {
    const snapshot = snapshotWith([
      { at: [2, 0], key: '/registry/a/one', value: '1' },
      { at: [2, 1], key: '/registry/a/two', value: '2' },
      { at: [3, 0], key: '/registry/a/three', value: '3' },
    ])
    const { revision, entries } = await read(snapshot)
    expect([revision, entries.map((entry) => [entry.key, entry.revision])]).toEqual([
      4,
      [
        ['/a/one', 2],
        ['/a/two', 4],
        ['/a/three', 3],
      ],
    ])
    const to = memoryStorage()
    expect(await importStorage(to, { entries: readEtcdSnapshot(fileOf(snapshot)) })).toEqual({ revision: 4, entries: 3 })
  })

  it('waits for `prepare` of the transformer before it reads a value', async () => {
    let fetched = false
    const transformer = {
      ...identityTransformer,
      prepare: async () => {
        await Promise.resolve()
        fetched = true
      },
      fromStorage: (_place: unknown, stored: Uint8Array) => (fetched ? stored : bytes('too early')),
    }
    const snapshot = snapshotWith([{ at: [2, 0], key: '/registry/a/one', value: '1' }])
    expect((await read(snapshot, { transformer })).entries.map(({ value }) => value)).toEqual(['1'])
  })

  it('names skipped values', async () => {
    const skipped: string[] = []
    const form = { ...opaqueForm, decode: () => undefined }
    const snapshot = snapshotWith([{ at: [2, 0], key: '/registry/a/one', value: '1' }])
    await read(snapshot, { form, onSkipped: (key) => skipped.push(key) })
    expect(skipped).toEqual(['/a/one'])
  })

  it('is refused when it is damaged, incomplete, without checksum or something else', async () => {
    const from = memoryStorage()
    await fill(from)
    const snapshot = await snapshotOf(from)
    const reason = (all: Buffer, options = {}) => read(all, options).catch((error) => error.detail.reason)
    const flipped = Buffer.from(snapshot)
    flipped[snapshot.length - 5000]! ^= 1
    expect(await reason(flipped)).toBe('corrupt')
    expect(await reason(snapshot.subarray(0, -10))).toBe('corrupt')
    expect(await reason(snapshot.subarray(0, -4096))).toBe('corrupt')
    expect(await reason(snapshot.subarray(0, -32))).toBe('foreign')
    expect((await read(snapshot.subarray(0, -32), { skipHashCheck: true })).revision).toBe(from.revision)
    expect(await reason(withChecksum(Buffer.alloc(8192)))).toBe('corrupt')
    expect(await reason(withChecksum(Buffer.concat([...boltPages({ other: [] })])))).toBe('foreign')
    const form = {
      ...opaqueForm,
      decode: () => {
        throw new Error('unreadable')
      },
    }
    expect(await reason(snapshot, { form })).toBe('corrupt')
  })

  const program = etcdProgram()
  it.skipIf(program === undefined)(
    `that etcd makes is read${program === undefined ? ` (${withoutEtcd})` : ''}`,
    async () => {
      const etcd = await EtcdProcess.start(program!)
      const client = new EtcdClient({ endpoints: [etcd.url] })
      try {
        const storage = await etcdStorage({ endpoints: [etcd.url], form: events })
        await fill(storage)
        const { entries } = await storage.list({ prefix: '/' })
        const { revision } = storage
        await storage.close()
        const parts: Uint8Array[] = []
        for await (const part of client.snapshot()) parts.push(part)
        const found = await read(Buffer.concat(parts))
        const byKey = (one: { key: string }, other: { key: string }) => (one.key < other.key ? -1 : 1)
        expect([found.revision, [...found.entries].sort(byKey)]).toEqual([revision, entries.map(shown).sort(byKey)])
      } finally {
        client.close()
        await etcd.dispose()
      }
    },
    60_000,
  )
})
