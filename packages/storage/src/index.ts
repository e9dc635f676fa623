export type {
  Encode,
  Entry,
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
export {
  backupLmdb,
  type LmdbBackupOptions,
  type LmdbBackupSummary,
  type LmdbRestoreOptions,
  restoreLmdb,
} from './lmdb/backup.ts'
export { checkLmdb, type LmdbCheckOptions, type LmdbCheckResult, type LmdbProblem } from './lmdb/check.ts'
export { compactLmdb, type LmdbCompactOptions } from './lmdb/compact.ts'
export { type LmdbStorageOptions, lmdbStorage } from './lmdb/lmdb-storage.ts'
export type { LmdbProgress } from './lmdb/store-reader.ts'
export { fork, memoryStorage } from './memory/memory-storage.ts'
export type { StorageOptions } from './options.ts'
export { StorageError, type StorageErrorDetail, type UnavailableReason } from './storage-error.ts'
export type { ValuePlace, ValueTransformer } from './value-transformer.ts'
