import type { Storage } from '../interfaces.ts'
import { MvccStorage } from '../mvcc/mvcc-storage.ts'
import { resolveOptions, type StorageOptions } from '../options.ts'
import { invalidArgument } from '../storage-error.ts'
import type { ValueTransformer } from '../value-transformer.ts'
import { LmdbJournal } from './lmdb-journal.ts'

export interface LmdbStorageOptions extends StorageOptions {
  /**
   * Directory of the store, created when missing. Only one store of one process may use it, and it must be on a local file
   * system.
   */
  readonly dir: string
  /** Encrypts values in the files. Default: values are stored in clear. */
  readonly transformer?: ValueTransformer
}

/**
 * Opens a store whose writes survive a crash: each write is flushed to disk before its promise resolves, many writes per flush. Present
 * values are also in memory, so reads of the newest state do not touch the disk. Values of past revisions are read from the files, unless
 * they are encrypted.
 *
 * After a restart, the event window is restored and its age counts from the start; present values are read on first access.
 *
 * @throws StorageError `Unavailable`, with a reason: `locked`, `foreign`, `corrupt`, `access`, `encryption`, or `module` without the
 * package `lmdb`
 * @example
 * import { lmdbStorage } from '@krmkit/storage'
 * await using storage = await lmdbStorage({ dir: '.krmkit/storage' })
 * const { outcome } = await storage.put('/core/configmaps/shop/web', () => new TextEncoder().encode('{}'), { expect: 0 })
 * outcome // 'written'
 */
export async function lmdbStorage(options: LmdbStorageOptions): Promise<Storage> {
  if (typeof (options as Partial<LmdbStorageOptions> | undefined)?.dir !== 'string')
    throw invalidArgument('lmdbStorage needs the path of a folder, `dir`')
  const journal = await LmdbJournal.open(options.dir, options.transformer)
  try {
    await journal.prepare()
    return MvccStorage.open(resolveOptions(options), journal.load(), journal)
  } catch (error) {
    await journal.close()
    throw error
  }
}
