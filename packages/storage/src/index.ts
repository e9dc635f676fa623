export * from './browser.ts'
export { exportStorage, importStorage, type StorageExportOptions, type StorageImportOptions } from './exchange/exchange.ts'
export type {
  ExportedEntries,
  ExportedEntry,
  ExportFormat,
  ExportSummary,
  ImportSource,
  WriteBytes,
} from './exchange/export-format.ts'
export { exportLmdb, importLmdb, type LmdbExportOptions, type LmdbImportOptions } from './exchange/lmdb-exchange.ts'
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
