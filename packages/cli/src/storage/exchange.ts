import { createCatalog } from '@krmkit/kinds'
import { createStoredForm } from '@krmkit/registry/stored-form'
import {
  type ExportFormat,
  exportLmdb,
  exportStorage,
  type ImportSource,
  importLmdb,
  importStorage,
  type Storage,
  type ValueTransformer,
} from '@krmkit/storage'
import { etcdSnapshotFormat } from '@krmkit/storage/etcd'
import { errorText } from '../offline/command.ts'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import { openEncryption } from './encryption.ts'
import { withImportSource } from './import-source.ts'
import { openEtcd } from './open-storage.ts'
import type { ExchangeFlags, ExportFlags, ImportFlags } from './options.ts'
import { progressPrinter, storeDirOf, writeOutput } from './store-files.ts'

/** Runs `krmkit storage export`. @returns the exit code. @throws CliError, StorageError */
export async function runExport(path: string, flags: ExportFlags, terminal: Terminal): Promise<number> {
  const { revision, entries } = await withTransformer(flags, terminal, (transforming) => {
    const formatting = formatOf(flags, transforming)
    return writeOutput(path, terminal, async (write) => {
      if (flags.etcdServers.length > 0) {
        return withEtcd(flags, { terminal, transforming }, (storage) => exportStorage(storage, { ...formatting, write }))
      }
      return exportLmdb({ dir: storeDirOf(flags), ...transforming, ...formatting, write, onProgress: progressPrinter(terminal) })
    })
  })
  terminal.err(`${entries} objects exported at revision ${revision}\n`)
  return exitCodes.success
}

/** Runs `krmkit storage import`. @returns the exit code. @throws CliError, StorageError */
export async function runImport(path: string, flags: ImportFlags, terminal: Terminal): Promise<number> {
  const load = (parts: ExchangeParts) => async (source: ImportSource) => {
    if (flags.etcdServers.length === 0) return importLmdb({ dir: storeDirOf(flags), ...parts.transforming, ...source })
    const { atRevision } = createStoredForm({ catalog: createCatalog() })
    return withEtcd(flags, parts, (storage) => importStorage(storage, { ...source, atRevision }))
  }
  const { revision, entries } = await withTransformer(flags, terminal, (transforming) => {
    const parts = { terminal, transforming }
    return withImportSource(path, flags, { parts, use: load(parts) })
  })
  terminal.err(`${entries} objects imported, exported at revision ${revision}\n`)
  return exitCodes.success
}

/** Lines of JSON are the default of the library. */
function formatOf({ format, etcdPrefix }: ExportFlags, transforming: Transforming): { readonly format?: ExportFormat } {
  if (format === 'ndjson') return {}
  const form = createStoredForm({ catalog: createCatalog() })
  return { format: etcdSnapshotFormat({ ...transforming, prefix: etcdPrefix, form }) }
}

interface Transforming {
  readonly transformer?: ValueTransformer
}

interface ExchangeParts {
  readonly terminal: Terminal
  readonly transforming: Transforming
}

const logOf = (terminal: Terminal) => ({
  info: () => undefined,
  error: (text: string, error?: unknown) => terminal.err(`${text}${error === undefined ? '' : `: ${errorText(error)}`}\n`),
})

async function withTransformer<T>(
  flags: ExchangeFlags,
  terminal: Terminal,
  use: (transforming: Transforming) => Promise<T>,
): Promise<T> {
  const storage = flags.etcdServers.length > 0 ? 'etcd' : 'durable'
  const options = { ...flags, storage, encryptionProviderConfigAutomaticReload: false } as const
  const encryption = await openEncryption(options, { log: logOf(terminal) })
  try {
    return await use(encryption === undefined ? {} : { transformer: encryption.transformer })
  } finally {
    encryption?.[Symbol.dispose]()
  }
}

async function withEtcd<T>(
  flags: ExchangeFlags,
  { terminal, transforming }: ExchangeParts,
  use: (storage: Storage) => Promise<T>,
): Promise<T> {
  const parts = { catalog: createCatalog(), log: logOf(terminal), ...transforming, compactionIntervalMs: 0, spaceIntervalMs: 0 }
  const storage = await openEtcd(flags, parts)
  try {
    return await use(storage)
  } finally {
    await storage.close()
  }
}
