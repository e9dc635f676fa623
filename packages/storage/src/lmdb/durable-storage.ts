import type { Storage } from '../interfaces.ts'
import { MvccStorage } from '../mvcc/mvcc-storage.ts'
import { resolveOptions, type StorageOptions } from '../options.ts'
import { LmdbJournal } from './lmdb-journal.ts'

export interface DurableStorageOptions extends StorageOptions {
  /**
   * Directory of the store, made when it is missing. It belongs to one store of one process at a time, and must be on
   * a local file system.
   */
  readonly dir: string
}

/**
 * Opens a store whose writes survive a crash: each is flushed to disk before its promise resolves, many together.
 * Everything is in memory too, so reads never touch the disk.
 *
 * What had been written to the window of events is there again after a restart, and ages anew.
 *
 * @throws StorageError `Unavailable`, with a reason: `locked`, `foreign`, `corrupt`, `access`, or `module` without the package `lmdb`
 */
export async function durableStorage(options: DurableStorageOptions): Promise<Storage> {
  const journal = await LmdbJournal.open(options.dir)
  try {
    return MvccStorage.open(resolveOptions(options), journal.load(), journal)
  } catch (error) {
    await journal.close()
    throw error
  }
}
