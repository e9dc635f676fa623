/** What runs in every runtime: the entry point of the package for browsers. */

export type {
  Encode,
  Entry,
  ListSelection,
  Revision,
  Storage,
  StorageEvent,
  StorageListOptions,
  StorageListResult,
  StorageWatchOptions,
  StorageWriteOptions,
  Watcher,
  WatchSelection,
  WriteResult,
} from './interfaces.ts'
export { fork, memoryStorage } from './memory/memory-storage.ts'
export type { StorageOptions } from './options.ts'
export type { DurationCounts, JournalStats, RemoteSpace, RemoteStats, StorageStats } from './stats.ts'
export { StorageError, type StorageErrorDetail, type UnavailableReason } from './storage-error.ts'
export type { StoredValue, ValuePlace, ValueTransformer } from './value-transformer.ts'
