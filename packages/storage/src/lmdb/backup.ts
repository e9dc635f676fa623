import type { Revision } from '../interfaces.ts'
import { BackupEncoder, readBackup } from './backup-format.ts'
import { unavailable } from './data-dir.ts'
import { readRecord } from './record.ts'
import { type LmdbProgress, withSnapshot } from './store-reader.ts'
import { createStore } from './store-writer.ts'

/** Bytes per call of `write`. */
const chunkBytes = 256 * 1024

export interface LmdbBackupOptions {
  /** Directory of the store. Another process may serve it. */
  readonly dir: string
  /** Stores the next bytes of the backup. The next call waits for the promise. */
  readonly write: (chunk: Uint8Array) => Promise<void>
  readonly onProgress?: (progress: LmdbProgress) => void
}

export interface LmdbRestoreOptions {
  /** Directory of the new store: missing or empty. */
  readonly dir: string
  /** The bytes of a backup. */
  readonly chunks: AsyncIterable<Uint8Array>
  /** Called with the number of records written so far. */
  readonly onProgress?: (progress: Omit<LmdbProgress, 'total'>) => void
}

/** Summary of a backup. */
export interface LmdbBackupSummary {
  /** Newest revision. */
  readonly revision: Revision
  readonly records: number
}

/**
 * Writes a complete backup of a store, including the event window, at the revision when the call started. The store may be in use.
 *
 * @throws StorageError `Unavailable`: `corrupt` when a record cannot be read, `foreign` or `access`; errors of `write`
 * @example
 * import { createWriteStream } from 'node:fs'
 * import { backupLmdb } from '@krmkit/storage'
 * const file = createWriteStream('krmkit.backup')
 * const write = (chunk: Uint8Array) =>
 *   new Promise<void>((resolve, reject) => file.write(chunk, (error) => (error ? reject(error) : resolve())))
 * const { revision } = await backupLmdb({ dir: '.krmkit/data', write })
 * file.end()
 */
export async function backupLmdb({ dir, write, onProgress }: LmdbBackupOptions): Promise<LmdbBackupSummary> {
  return withSnapshot(dir, async (snapshot) => {
    const encoder = new BackupEncoder()
    let pending = [encoder.start()]
    let pendingBytes = 0
    let revision = snapshot.compacted
    for await (const record of snapshot.records(onProgress)) {
      if (readRecord(record.bytes, record.revision) === undefined) {
        throw unavailable(
          'corrupt',
          `the record of revision ${record.revision} cannot be read; "krmkit storage check" tells more`,
        )
      }
      const frame = encoder.record(record)
      pending.push(frame)
      pendingBytes += frame.length
      revision = Math.max(revision, record.revision)
      if (pendingBytes < chunkBytes) continue
      await write(Buffer.concat(pending))
      pending = []
      pendingBytes = 0
    }
    await write(Buffer.concat([...pending, encoder.end(snapshot.compacted)]))
    return { revision, records: snapshot.total }
  })
}

/**
 * Creates a store from a backup. The checksum is verified before the store gets its final name; after a failure, the directory is
 * unchanged.
 *
 * @throws StorageError `Unavailable`: `foreign` when the directory is not empty or the bytes are not a backup, `corrupt` when the backup is
 * damaged or incomplete, `access`
 * @example
 * import { createReadStream } from 'node:fs'
 * import { restoreLmdb } from '@krmkit/storage'
 * await restoreLmdb({ dir: 'restored/data', chunks: createReadStream('krmkit.backup') })
 */
export async function restoreLmdb({ dir, chunks, onProgress }: LmdbRestoreOptions): Promise<LmdbBackupSummary> {
  let records = 0
  let revision = 0
  await createStore(dir, async (writer) => {
    const backup = readBackup(chunks)
    for (;;) {
      const { value, done } = await backup.next()
      if (done === true) {
        revision = Math.max(revision, value)
        return value
      }
      await writer.add(value.revision, value.bytes)
      revision = value.revision
      records++
      onProgress?.({ records })
    }
  })
  return { revision, records }
}
