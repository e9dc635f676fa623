/** Stores that break one guarantee each, to show that a check finds it. */
import type { Storage, StorageEvent, Watcher } from '@krmkit/storage'

/** By guarantee, as docs/reference/storage-contract.md names them. */
export const brokenStores: Readonly<Record<string, (storage: Storage) => Storage>> = {
  Ordered: (storage) => withWatchers(storage, (events) => [...events].reverse()),
  Unique: (storage) => withWatchers(storage, (events) => [...events, ...events.slice(-1)]),
  Atomic: (storage) => altered(storage, { put: (key, encode, { memo } = {}) => storage.put(key, encode, { memo }) }),
  Reliable: (storage) => withWatchers(storage, (events) => (events.length > 1 ? events.slice(1) : events)),
  Resumable: (storage) =>
    altered(storage, {
      watch: ({ from, ...rest }) => storage.watch({ ...rest, from: from < storage.revision ? from + 1 : from }),
    }),
  Bookmarkable: (storage) =>
    altered(storage, { watch: (options) => alteredWatcher(storage.watch(options), { revision: () => storage.revision }) }),
  Linearizable: staleReads,
  'Snapshot lists': (storage) => altered(storage, { list: async ({ at: _, ...newest }) => storage.list(newest) }),
}

/** Every second read returns what the key had before. */
function staleReads(storage: Storage): Storage {
  let count = 0
  return altered(storage, {
    async get(key, options = {}) {
      const entry = await storage.get(key, options)
      const before = entry === undefined ? 0 : entry.revision - 1
      if (options.at !== undefined || ++count % 2 === 1 || before < storage.compacted) return entry
      return (await storage.get(key, { at: before })) ?? entry
    },
  })
}

function withWatchers(storage: Storage, change: (events: readonly StorageEvent[]) => readonly StorageEvent[]): Storage {
  return altered(storage, {
    watch: (options) => {
      const watcher = storage.watch(options)
      return alteredWatcher(watcher, { take: (max) => change(watcher.take(max)) })
    },
  })
}

function alteredWatcher(
  watcher: Watcher,
  { take = (max) => watcher.take(max), revision = () => watcher.revision }: { take?: Watcher['take']; revision?: () => number },
): Watcher {
  return {
    take,
    get revision() {
      return revision()
    },
    get ended() {
      return watcher.ended
    },
    get onReady() {
      return watcher.onReady
    },
    set onReady(onReady) {
      watcher.onReady = onReady
    },
    close: () => watcher.close(),
  }
}

function altered(storage: Storage, changes: Partial<Storage>): Storage {
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
    compact: (revision) => storage.compact(revision),
    close: () => storage.close(),
    [Symbol.asyncDispose]: () => storage.close(),
    ...changes,
  }
}
