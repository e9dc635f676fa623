import { join } from 'node:path'
import type { Catalog } from '@krmkit/kinds'
import { systemClock } from '@krmkit/meta'
import { lmdbStorage, memoryStorage, type Storage, type ValueTransformer } from '@krmkit/storage'
import { CliError } from '../cli-error.ts'
import { readText } from '../files.ts'
import { readKeyPair } from '../key-pair.ts'
import type { Log } from '../log.ts'
import type { ServeOptions } from '../serve-options.ts'
import { openEncryption } from './encryption.ts'

export interface StorageParts {
  readonly catalog: Catalog
  readonly log: Log
}

/** The storage, and what is released after it was closed. */
export interface OpenedStorage extends Disposable {
  readonly storage: Storage
}

/** Opens the storage that the flags choose. @throws CliError for flags or files that cannot be used; StorageError */
export async function openStorage(options: ServeOptions, parts: StorageParts): Promise<OpenedStorage> {
  const encryption = await openEncryption(options, parts)
  try {
    const storage = await openChosen(options, parts, encryption === undefined ? {} : { transformer: encryption.transformer })
    encryption?.attach(storage)
    return { storage, [Symbol.dispose]: () => encryption?.[Symbol.dispose]() }
  } catch (error) {
    encryption?.[Symbol.dispose]()
    throw error
  }
}

interface Transforming {
  readonly transformer?: ValueTransformer
}

async function openChosen(options: ServeOptions, parts: StorageParts, transforming: Transforming): Promise<Storage> {
  const common = { clock: systemClock, historyMs: options.etcdCompactionInterval }
  switch (options.storage) {
    case 'memory':
      return memoryStorage(common)
    case 'durable':
      return lmdbStorage({ ...common, ...transforming, dir: join(options.dataDir, 'data') })
    case 'etcd':
      return openEtcd(options, { ...common, ...transforming }, parts)
  }
}

async function openEtcd(
  options: ServeOptions,
  common: Transforming & { readonly clock: typeof systemClock; readonly historyMs: number },
  { catalog, log }: StorageParts,
): Promise<Storage> {
  const { etcdServers: endpoints, etcdPrefix: prefix } = options
  if (endpoints.length === 0) throw new CliError({ code: 'InvalidFlag', message: '--storage=etcd needs --etcd-servers' })
  const tls = await tlsFiles(options)
  const [{ etcdStorage }, { createStoredForm }] = await Promise.all([
    import('@krmkit/storage/etcd'),
    import('@krmkit/registry/stored-form'),
  ])
  return etcdStorage({
    ...common,
    endpoints,
    prefix,
    ...(tls === undefined ? {} : { tls }),
    form: createStoredForm({ catalog }),
    compactionIntervalMs: options.etcdCompactionInterval,
    onError: (error) => log.error('etcd', error),
  })
}

async function tlsFiles({ etcdCafile, etcdCertfile, etcdKeyfile }: ServeOptions) {
  if ((etcdCertfile === undefined) !== (etcdKeyfile === undefined)) {
    throw new CliError({ code: 'InvalidFlag', message: '--etcd-certfile and --etcd-keyfile go together' })
  }
  if (etcdCafile === undefined && etcdCertfile === undefined) return undefined
  const pair =
    etcdCertfile === undefined || etcdKeyfile === undefined
      ? {}
      : await readKeyPair({
          certificate: { flag: 'etcd-certfile', path: etcdCertfile },
          key: { flag: 'etcd-keyfile', path: etcdKeyfile },
        })
  return { ...pair, ...(etcdCafile === undefined ? {} : { ca: await readText(etcdCafile, 'etcd-cafile') }) }
}
