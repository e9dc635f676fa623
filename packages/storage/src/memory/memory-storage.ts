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
 * A second store with the same present and the same past, in constant time: entries, states and full history segments
 * are shared, and neither store ever sees what the other writes. Revisions continue in both from where they were.
 *
 * Entries before the fork are shared objects, and so are their notes.
 *
 * @param storage what {@link memoryStorage} or `fork` returned
 * @param options what differs from the options of the original
 * @throws TypeError for a store with anything but memory below it
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
