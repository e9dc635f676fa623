/** The entry point for browsers: exports only what runs in every runtime. */

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
