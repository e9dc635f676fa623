import type { EtcdFlags } from './open-storage.ts'
import type { DataDirFlags } from './store-files.ts'

/** The flags that `krmkit storage export` and `import` share. */
export interface ExchangeFlags extends EtcdFlags, DataDirFlags {
  readonly encryptionProviderConfig?: string
}

export interface ExportFlags extends ExchangeFlags {
  readonly format: 'ndjson' | 'etcd-snapshot'
}

export interface ImportFlags extends ExchangeFlags {
  readonly skipHashCheck: boolean
}

/** The flags of `krmkit storage migrate`. */
export interface MigrateFlags {
  readonly kubeconfig?: string
  readonly context?: string
  readonly output: 'text' | 'json'
}
