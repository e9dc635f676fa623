import { createHash } from 'node:crypto'
import { BoltError, BoltReader, type RandomAccessFile } from '../../bbolt/bolt-reader.ts'
import { isExported } from '../../exchange/exchange.ts'
import type { ExportedEntry, ExportSummary } from '../../exchange/export-format.ts'
import type { Revision } from '../../interfaces.ts'
import { unavailable } from '../../lmdb/data-dir.ts'
import { StorageError } from '../../storage-error.ts'
import type { ValueTransformer } from '../../value-transformer.ts'
import { type KeyValue, keyValue } from '../messages.ts'
import { blockBytes, bucketNames, checksumBytes, metaKeys, readPosition } from './snapshot-format.ts'
import type { SnapshotPlaces } from './write-snapshot.ts'

/** Number of bytes hashed at a time. */
const hashedBytes = 1024 * 1024

export interface ReadSnapshotOptions extends SnapshotPlaces {
  /** Its `prepare` is called before `form` reads values. */
  readonly transformer: Pick<ValueTransformer, 'prepare'>
  /** Whether to accept a file without a checksum, such as the data file of a stopped etcd. */
  readonly skipHashCheck: boolean
  /** Called with each key below the root whose value is not an object of a known kind. */
  readonly onSkipped: (key: string) => void
}

/**
 * Reads the newest value of every key of a snapshot. Keys that one transaction wrote share a revision; all but the first get revisions
 * after the newest of the snapshot.
 *
 * @throws StorageError `Unavailable`: `foreign` for other files, `corrupt` for a damaged one, `encryption`
 */
export async function* readSnapshot(
  file: RandomAccessFile,
  options: ReadSnapshotOptions,
): AsyncGenerator<ExportedEntry, ExportSummary> {
  await checkChecksum(file, options.skipHashCheck)
  const { newest, revision: last } = await asStorageError(() => readWrites(file))
  const seen = new Set<Revision>()
  let revision = last
  let entries = 0
  for (const write of [...newest.values()].sort((one, other) => one.mod_revision - other.mod_revision)) {
    const own = seen.has(write.mod_revision) ? ++revision : write.mod_revision
    const entry = await entryOf(write, own, options)
    if (entry === undefined) continue
    seen.add(own)
    entries++
    yield entry
  }
  return { revision, entries }
}

async function entryOf(
  write: KeyValue,
  revision: Revision,
  { layout, form, transformer, onSkipped }: ReadSnapshotOptions,
): Promise<ExportedEntry | undefined> {
  const key = layout.fromEtcd(write.key)
  if (key === undefined || !isExported(key)) return undefined
  await transformer.prepare?.([{ key, stored: write.value }])
  let value: Uint8Array | undefined
  try {
    value = form.decode(key, write.value, revision)
  } catch (cause) {
    if (cause instanceof StorageError) throw cause
    throw unavailable('corrupt', `the value at ${key} cannot be decoded`, cause)
  }
  if (value === undefined) onSkipped(key)
  return value === undefined ? undefined : { key, value, revision, created: write.create_revision }
}

interface Writes {
  /** By key. */
  readonly newest: ReadonlyMap<string, KeyValue>
  readonly revision: Revision
}

/** @throws BoltError */
async function readWrites(file: RandomAccessFile): Promise<Writes> {
  const bolt = await BoltReader.open(file)
  const writes = await bolt.bucket(bucketNames.key)
  if (writes === undefined) throw unavailable('foreign', 'the file is no snapshot of etcd: it has no bucket of keys')
  const newest = new Map<string, KeyValue>()
  let revision = 1
  for await (const { key, value } of writes) {
    const position = readPosition(key)
    if (position === undefined) throw new BoltError('a revision is damaged')
    revision = Math.max(revision, position.revision)
    const write = decodeWrite(value)
    const name = Buffer.from(write.key).toString('latin1')
    if (position.isDeletion) newest.delete(name)
    else {
      const isPlaced = write.mod_revision === position.revision && write.create_revision >= 1
      if (!isPlaced || write.create_revision > write.mod_revision)
        throw new BoltError(`the write of revision ${position.revision} is damaged`)
      newest.set(name, write)
    }
  }
  return { newest, revision: Math.max(revision, await compactedBy(bolt)) }
}

/** The revision of the last compaction, which can be later than any remaining write. */
async function compactedBy(bolt: BoltReader): Promise<Revision> {
  let revision = 1
  const compactions: readonly string[] = [metaKeys.finishedCompaction, metaKeys.scheduledCompaction]
  for await (const { key, value } of (await bolt.bucket(bucketNames.meta)) ?? []) {
    if (!compactions.includes(Buffer.from(key).toString())) continue
    const position = readPosition(value)
    if (position === undefined) throw new BoltError('the revision of the last compaction is damaged')
    revision = Math.max(revision, position.revision)
  }
  return revision
}

async function checkChecksum(file: RandomAccessFile, skipHashCheck: boolean): Promise<void> {
  const rest = file.size % blockBytes
  if (rest === 0 && skipHashCheck) return
  if (rest === 0)
    throw unavailable('foreign', 'the file has no checksum behind it: it is the data file of an etcd, not a snapshot')
  if (rest !== checksumBytes) throw unavailable('corrupt', 'the snapshot is incomplete')
  const end = file.size - checksumBytes
  const hash = createHash('sha256')
  for (let at = 0; at < end; at += hashedBytes) hash.update(await file.read(at, Math.min(hashedBytes, end - at)))
  if (!hash.digest().equals(await file.read(end, checksumBytes))) {
    throw unavailable('corrupt', 'the snapshot is damaged: its checksum differs')
  }
}

async function asStorageError<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    if (!(cause instanceof BoltError)) throw cause
    throw unavailable('corrupt', `the snapshot is damaged: ${cause.message}`, cause)
  }
}

/** @throws BoltError */
function decodeWrite(value: Uint8Array): KeyValue {
  try {
    return keyValue.decode(value)
  } catch (cause) {
    throw new BoltError('a write cannot be decoded', { cause })
  }
}
