import { createHash } from 'node:crypto'
import { type BoltEntry, boltPages } from '../../bbolt/bolt-writer.ts'
import type { ExportedEntry, ExportSummary, WriteBytes } from '../../exchange/export-format.ts'
import type { StoredForm } from '../../follower/stored-form.ts'
import type { Revision } from '../../interfaces.ts'
import type { Layout } from '../layout.ts'
import { keyValue, storedLease } from '../messages.ts'
import { bigEndian, bucketNames, metaKeys, writePosition } from './snapshot-format.ts'

/** Maximum number of keys of one lease, because etcd removes them in one step. */
const keysOfLease = 1000
/** Bytes per call of `write`. */
const chunkBytes = 256 * 1024

/** How keys and values are stored in the snapshot. */
export interface SnapshotPlaces {
  readonly layout: Layout
  /** Includes the encryption of the servers that will use the snapshot. */
  readonly form: StoredForm
}

/** Writes a snapshot of one revision, without history. */
export async function writeSnapshot(
  entries: AsyncIterable<ExportedEntry> | Iterable<ExportedEntry>,
  { places, revision, write }: { readonly places: SnapshotPlaces; readonly revision: Revision; readonly write: WriteBytes },
): Promise<ExportSummary> {
  const leases = new PlannedLeases()
  const writes: { readonly revision: Revision; readonly value: Uint8Array }[] = []
  for await (const entry of entries) {
    const lease = leases.of(places.form.ttlSeconds?.(entry.key))
    writes.push({ revision: entry.revision, value: storedWrite(entry, places, lease) })
  }
  writes.sort((one, other) => one.revision - other.revision)
  const compaction = writePosition({ revision, place: 0 })
  const meta: Readonly<Record<string, Buffer>> = {
    [metaKeys.index]: bigEndian(1),
    [metaKeys.finishedCompaction]: compaction,
    [metaKeys.scheduledCompaction]: compaction,
    [metaKeys.term]: bigEndian(1),
  }
  const buckets = {
    ...Object.fromEntries(bucketNames.others.map((name) => [name, []])),
    [bucketNames.key]: placed(writes),
    [bucketNames.lease]: leases.entries(),
    [bucketNames.meta]: Object.keys(meta)
      .sort()
      .map((key) => ({ key: Buffer.from(key), value: meta[key]! })),
  }
  await writeWithChecksum(boltPages(buckets), write)
  return { revision, entries: writes.length }
}

function storedWrite(entry: ExportedEntry, { layout, form }: SnapshotPlaces, lease: number): Uint8Array {
  const { key, revision, created } = entry
  return keyValue.encode({
    key: layout.toEtcd(key),
    create_revision: created,
    mod_revision: revision,
    // The number of writes to a key is not known here; etcd requires 1 for the first write.
    version: created === revision ? 1 : 2,
    value: form.encode(key, entry.value),
    ...(lease === 0 ? {} : { lease }),
  })
}

/** The writes by position. Writes of one transaction share a revision and differ in place. */
function placed(writes: readonly { readonly revision: Revision; readonly value: Uint8Array }[]): BoltEntry[] {
  let place = 0
  return writes.map(({ revision, value }, at) => {
    place = writes[at - 1]?.revision === revision ? place + 1 : 0
    return { key: writePosition({ revision, place }), value }
  })
}

/** Plans the leases of keys with a lifetime. Leases restart when etcd starts with a snapshot. */
class PlannedLeases {
  readonly #ttls: number[] = []
  readonly #open = new Map<number, { readonly id: number; keys: number }>()

  /** The identifier of a lease; 0: none. */
  of(ttlSeconds: number | undefined): number {
    if (ttlSeconds === undefined) return 0
    let lease = this.#open.get(ttlSeconds)
    if (lease === undefined || lease.keys === keysOfLease) {
      lease = { id: this.#ttls.push(ttlSeconds), keys: 0 }
      this.#open.set(ttlSeconds, lease)
    }
    lease.keys++
    return lease.id
  }

  entries(): BoltEntry[] {
    return this.#ttls.map((TTL, at) => ({ key: bigEndian(at + 1), value: storedLease.encode({ ID: at + 1, TTL }) }))
  }
}

async function writeWithChecksum(pages: Iterable<Buffer>, write: WriteBytes): Promise<void> {
  const hash = createHash('sha256')
  let pending: Buffer[] = []
  let pendingBytes = 0
  for (const page of pages) {
    hash.update(page)
    pending.push(page)
    pendingBytes += page.length
    if (pendingBytes < chunkBytes) continue
    await write(Buffer.concat(pending))
    pending = []
    pendingBytes = 0
  }
  await write(Buffer.concat([...pending, hash.digest()]))
}
