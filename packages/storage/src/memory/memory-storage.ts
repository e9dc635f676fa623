/** The store in memory. A write is durable, for this store, as soon as it has its revision. */
import type { Storage } from '../interfaces.ts'
import { MvccStorage } from '../mvcc/mvcc-storage.ts'
import { checkOptionNames, resolveOptions, type StorageOptions } from '../options.ts'

/**
 * An empty store in memory, at revision 1.
 *
 * @throws StorageError `InvalidArgument` for an unknown or invalid option
 * @example
 * import { memoryStorage } from '@krmkit/storage'
 * const storage = memoryStorage()
 * const { outcome } = await storage.put('/core/configmaps/shop/web', () => new TextEncoder().encode('{}'), { expect: 0 })
 * outcome // 'written'
 * storage.revision // 2
 */
export function memoryStorage(options: StorageOptions = {}): Storage {
  checkOptionNames('memoryStorage', options)
  return MvccStorage.empty(resolveOptions(options))
}

/**
 * Creates a second store with the same state and history, in constant time: entries, states and full history segments are shared. Neither
 * store sees later writes of the other. Revisions continue independently in both.
 *
 * Entries from before the fork are shared objects, including their memos.
 *
 * @param storage a store from {@link memoryStorage} or `fork`
 * @param options options that differ from those of the original
 * @throws TypeError for a store that is not purely in memory
 * @example
 * import { fork, memoryStorage } from '@krmkit/storage'
 * const storage = memoryStorage()
 * const copy = fork(storage)
 * const { outcome } = await copy.put('/core/configmaps/shop/web', () => new TextEncoder().encode('{}'), { expect: 0 })
 * copy.count('/core/') // 1
 * storage.count('/core/') // 0
 */
export function fork(storage: Storage, options: StorageOptions = {}): Storage {
  if (!(storage instanceof MvccStorage && storage.isVolatile)) throw new TypeError('only stores in memory can be forked')
  checkOptionNames('fork', options)
  return storage.fork(options)
}
