/** Reads the records of a store at one revision, while another process may serve and write it. */
import { setImmediate } from 'node:timers/promises'
import type { Revision } from '../interfaces.ts'
import { firstRevision } from '../mvcc/mvcc-storage.ts'
import { checkDataDir, unavailable } from './data-dir.ts'
import { asUnavailable, compactedOf, type Environment, openEnvironment } from './environment.ts'

/** Number of records read per turn of the event loop. */
const recordsPerTurn = 512

/** Progress of an operation on a store. */
export interface LmdbProgress {
  readonly records: number
  readonly total: number
}

export interface StoredRecord {
  readonly revision: Revision
  readonly bytes: Buffer
}

export interface StoreSnapshot {
  /** Oldest readable revision. */
  readonly compacted: Revision
  readonly total: number
  /** The records in order of their revisions. */
  records(onProgress?: (progress: LmdbProgress) => void): AsyncGenerator<StoredRecord>
}

/**
 * Opens a store for reading only and reads it in one transaction, so that later writes are not seen. While the transaction lasts, the
 * server can write, but cannot reuse the space of removed records.
 *
 * @throws StorageError `Unavailable`
 */
export async function withSnapshot<T>(dir: string, use: (snapshot: StoreSnapshot) => Promise<T>): Promise<T> {
  checkDataDir(dir)
  const environment = await openEnvironment(dir, { readOnly: true })
  try {
    const transaction = environment.root.useReadTransaction()
    try {
      return await use(snapshotOf(environment, transaction))
    } finally {
      transaction.done()
    }
  } catch (cause) {
    throw cause instanceof Error && cause.message.includes('MDB_') ? asUnavailable(dir, cause) : cause
  } finally {
    await environment.root.close()
  }
}

function snapshotOf(
  { metadata, records }: Environment,
  transaction: ReturnType<Environment['root']['useReadTransaction']>,
): StoreSnapshot {
  const total = records.getKeysCount({ transaction })
  return {
    compacted: compactedOf(metadata.get('compacted', { transaction }), firstRevision),
    total,
    async *records(onProgress) {
      let count = 0
      for (const { key: revision, value: bytes } of records.getRange({ transaction })) {
        yield { revision, bytes }
        if (++count % recordsPerTurn !== 0) continue
        onProgress?.({ records: count, total })
        await setImmediate()
      }
      if (count !== total) throw unavailable('corrupt', `${total} records are expected, ${count} are found`)
    },
  }
}
