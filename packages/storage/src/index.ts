export type {
  Encode,
  Entry,
  ListOptions,
  ListResult,
  Revision,
  Storage,
  StorageEvent,
  Watcher,
  WatchOptions,
  WriteOptions,
  WriteResult,
} from './interfaces.ts'
export { type LmdbStorageOptions, lmdbStorage } from './lmdb/lmdb-storage.ts'
export { fork, memoryStorage } from './memory/memory-storage.ts'
export type { StorageOptions } from './options.ts'
export { StorageError, type StorageErrorDetail, type UnavailableReason } from './storage-error.ts'
