import type { Storage } from '@krmkit/storage'

/**
 * The storage of a server whose requests wait for `refresh` before they are handled: reads need not wait again.
 */
export function alreadyFresh(storage: Storage): Storage {
  return {
    get revision() {
      return storage.revision
    },
    get compacted() {
      return storage.compacted
    },
    get: (key, options) => storage.get(key, options),
    peek: (key) => storage.peek(key),
    list: (options) => storage.list(options),
    count: (prefix) => storage.count(prefix),
    put: (key, encode, options) => storage.put(key, encode, options),
    delete: (key, encode, options) => storage.delete(key, encode, options),
    watch: (options) => storage.watch(options),
    waitFor: (revision, signal) => storage.waitFor(revision, signal),
    isStale: (entry) => storage.isStale?.(entry) ?? false,
    compact: (revision) => storage.compact(revision),
    close: () => storage.close(),
    [Symbol.asyncDispose]: () => storage.close(),
  }
}
