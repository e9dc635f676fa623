import type { Entry, Revision, Storage } from '../interfaces.ts'
import { unavailable } from '../lmdb/data-dir.ts'
import {
  type ExportedEntry,
  type ExportFormat,
  type ExportSummary,
  entriesOf,
  type ImportSource,
  type WriteBytes,
  writeExport,
} from './export-format.ts'

/** Number of objects read at a time. */
const pageSize = 500
/** Maximum number of writes in flight. */
const parallelWrites = 32

/** Collections that servers on one etcd derive from other objects, and recreate when they are missing. */
const derivedPrefixes = ['/core/masterleases/', '/core/rangeallocations/']

/** Whether an export contains a key. */
export function isExported(key: string): boolean {
  return !derivedPrefixes.some((prefix) => key.startsWith(prefix))
}

export interface StorageExportOptions {
  readonly write: WriteBytes
  /** Default: lines of JSON. */
  readonly format?: ExportFormat
}

export type StorageImportOptions = ImportSource & {
  /** Returns the value with its new revision. Default: values are stored unchanged. */
  readonly atRevision?: (key: string, value: Uint8Array, revision: Revision) => Uint8Array
}

/**
 * Writes all objects of an open store at one revision, without their history.
 *
 * @throws StorageError; errors of `write`
 * @example
 * import { exportStorage, memoryStorage } from '@krmkit/storage'
 * const { entries } = await exportStorage(memoryStorage(), { write: async (chunk) => void process.stdout.write(chunk) })
 */
export async function exportStorage(
  storage: Storage,
  { write, format = writeExport }: StorageExportOptions,
): Promise<ExportSummary> {
  await storage.refresh?.()
  const { revision } = storage
  return format(entriesAt(storage, revision), { revision, write })
}

async function* entriesAt(storage: Storage, at: Revision): AsyncGenerator<Entry> {
  let after: string | undefined
  for (;;) {
    const { entries, remaining } = await storage.list({
      ...{ prefix: '/', at, limit: pageSize },
      ...(after === undefined ? {} : { after }),
    })
    for (const entry of entries) if (isExported(entry.key)) yield entry
    after = entries.at(-1)?.key
    if (remaining === 0 || after === undefined) return
  }
}

/**
 * Creates the objects of an export in an open, empty store. The objects get new revisions. After a failure, the store contains a part of
 * them.
 *
 * @throws StorageError `Unavailable`: `foreign` when the store contains objects or the bytes are not an export, `corrupt` for a damaged
 * export
 * @example
 * import { createReadStream } from 'node:fs'
 * import { importStorage, memoryStorage } from '@krmkit/storage'
 * await importStorage(memoryStorage(), { chunks: createReadStream('krmkit.ndjson') })
 */
export async function importStorage(storage: Storage, options: StorageImportOptions): Promise<ExportSummary> {
  await storage.refresh?.()
  if (storage.count('/') > 0) throw unavailable('foreign', 'the store contains objects: import to an empty one')
  const running = new Set<Promise<void>>()
  const { atRevision } = options
  const entries = entriesOf(options)
  const create = async ({ key, value }: ExportedEntry) => {
    const encode = (revision: Revision) => (atRevision === undefined || revision === 0 ? value : atRevision(key, value, revision))
    const { outcome } = await storage.put(key, encode, { expect: 0 })
    if (outcome === 'conflict') throw unavailable('foreign', `the store contains ${key} already: import to an empty one`)
  }
  for (;;) {
    const { value, done } = await entries.next()
    if (done === true) {
      await Promise.all(running)
      return value
    }
    const write = create(value)
    running.add(write)
    // `Promise.race` or `Promise.all` below reports a failure.
    void write.then(
      () => running.delete(write),
      () => undefined,
    )
    if (running.size >= parallelWrites) await Promise.race(running)
  }
}
