import type { StorageEvent } from '../interfaces.ts'
import { unavailable } from '../lmdb/data-dir.ts'
import { maxRecordBytes, readRecord, restoreRecord, transformEvents, writeRecord } from '../lmdb/record.ts'
import { type LmdbProgress, withSnapshot } from '../lmdb/store-reader.ts'
import { createStore } from '../lmdb/store-writer.ts'
import { makeEntry } from '../mvcc/entries.ts'
import { identityTransformer, type ValueTransformer } from '../value-transformer.ts'
import { isExported } from './exchange.ts'
import {
  type ExportedEntry,
  type ExportFormat,
  type ExportSummary,
  entriesOf,
  type ImportSource,
  type WriteBytes,
  writeExport,
} from './export-format.ts'

export interface LmdbExportOptions {
  /** Directory of the store. Another process may serve it. */
  readonly dir: string
  /** Decrypts values. Default: values are in clear. */
  readonly transformer?: ValueTransformer
  readonly write: WriteBytes
  /** Default: lines of JSON. */
  readonly format?: ExportFormat
  readonly onProgress?: (progress: LmdbProgress) => void
}

export type LmdbImportOptions = ImportSource & {
  /** Directory of the new store: missing or empty. */
  readonly dir: string
  /** Encrypts values. Default: values are stored in clear. */
  readonly transformer?: ValueTransformer
}

/**
 * Writes all objects of an embedded store at one revision, without their history.
 *
 * @throws StorageError `Unavailable`: `corrupt` when a record cannot be read, `encryption`, `foreign` or `access`; errors of `write`
 * @example
 * import { createWriteStream } from 'node:fs'
 * import { exportLmdb } from '@krmkit/storage'
 * const file = createWriteStream('krmkit.ndjson')
 * const write = (chunk: Uint8Array) =>
 *   new Promise<void>((resolve, reject) => file.write(chunk, (error) => (error ? reject(error) : resolve())))
 * const { entries } = await exportLmdb({ dir: '.krmkit/data', write })
 * file.end()
 */
export async function exportLmdb(options: LmdbExportOptions): Promise<ExportSummary> {
  const { dir, transformer = identityTransformer, write, format = writeExport, onProgress } = options
  return withSnapshot(dir, async (snapshot) => {
    const newest = new Map<string, ExportedEntry>()
    let revision = snapshot.compacted
    for await (const stored of snapshot.records(onProgress)) {
      const record = readRecord(stored.bytes, stored.revision)
      if (record === undefined) throw unavailable('corrupt', `the record of revision ${stored.revision} cannot be read`)
      revision = Math.max(revision, stored.revision)
      if (record.type === 'delete') newest.delete(record.entry.key)
      else if (isExported(record.entry.key)) {
        await transformer.prepare?.([{ key: record.entry.key, stored: record.entry.value }])
        newest.set(record.entry.key, restoreRecord(record, transformer).entry)
      }
    }
    const entries = [...newest.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
    return format(entries, { revision, write })
  })
}

/**
 * Creates an embedded store from an export. Objects keep their revisions, so clients can continue with the resourceVersions that they have.
 * After a failure, the directory is unchanged.
 *
 * @throws StorageError `Unavailable`: `foreign` when the directory is not empty or the bytes are not an export, `corrupt` when the export
 * is damaged, `access`
 * @example
 * import { createReadStream } from 'node:fs'
 * import { importLmdb } from '@krmkit/storage'
 * await importLmdb({ dir: 'imported/data', chunks: createReadStream('krmkit.ndjson') })
 */
export async function importLmdb(options: LmdbImportOptions): Promise<ExportSummary> {
  const { dir, transformer = identityTransformer } = options
  let summary: ExportSummary = { revision: 1, entries: 0 }
  await createStore(dir, async (writer) => {
    const all: ExportedEntry[] = []
    const entries = entriesOf(options)
    for (let next = await entries.next(); ; next = await entries.next()) {
      if (next.done === true) {
        summary = next.value
        break
      }
      all.push(next.value)
    }
    all.sort((a, b) => a.revision - b.revision)
    for (const entry of all) await writer.add(entry.revision, recordOf(entry, transformer))
    return summary.revision
  })
  return summary
}

function recordOf({ key, value, revision, created }: ExportedEntry, transformer: ValueTransformer): Buffer {
  const entry = makeEntry(key, value, { revision, created })
  const put: StorageEvent = { type: 'put', key, revision, entry, previous: undefined }
  const [event = put] = transformEvents([put], transformer)
  const buffer = Buffer.alloc(maxRecordBytes(event))
  return buffer.subarray(0, writeRecord(buffer, 0, event))
}
