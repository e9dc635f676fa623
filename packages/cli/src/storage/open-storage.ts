import { join } from 'node:path'
import type { HealthCheck } from '@krmkit/apiserver'
import type { Catalog } from '@krmkit/kinds'
import { systemClock } from '@krmkit/meta'
import { lmdbStorage, memoryStorage, type Storage, type ValueTransformer } from '@krmkit/storage'
import { CliError } from '../cli-error.ts'
import { readText } from '../files.ts'
import { readKeyPair } from '../key-pair.ts'
import type { Log } from '../log.ts'
import type { ServeOptions } from '../serve-options.ts'
import { openEncryption } from './encryption.ts'
import { expireEvents } from './event-expiry.ts'
import { watchSpace } from './space-watch.ts'

export interface StorageParts {
  readonly catalog: Catalog
  readonly log: Log
}

/** The storage, and what is released after it was closed. */
export interface OpenedStorage extends Disposable {
  readonly storage: Storage
  /** What must be healthy before the server is ready. */
  readonly readiness: readonly HealthCheck[]
}

/** Opens the storage that the flags choose. @throws CliError for flags or files that cannot be used; StorageError */
export async function openStorage(options: ServeOptions, parts: StorageParts): Promise<OpenedStorage> {
  const encryption = await openEncryption(options, parts)
  try {
    const storage = await openChosen(options, parts, encryption === undefined ? {} : { transformer: encryption.transformer })
    encryption?.attach(storage)
    const released: Disposable[] = [watchSpace(storage, { dir: options.dataDir, log: parts.log, clock: systemClock })]
    // Those in etcd have leases.
    if (options.storage !== 'etcd') {
      released.push(expireEvents(storage, { lifetimeMs: options.eventTtl, clock: systemClock, log: parts.log }))
    }
    if (encryption !== undefined) released.push(encryption)
    const dispose = () => {
      for (const each of released) each[Symbol.dispose]()
    }
    return { storage, readiness: encryption?.readiness ?? [], [Symbol.dispose]: dispose }
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
      return openEtcd(options, {
        ...common,
        ...transforming,
        ...parts,
        compactionIntervalMs: options.etcdCompactionInterval,
        spaceIntervalMs: options.etcdDbMetricPollInterval,
        eventTtlSeconds: Math.ceil(options.eventTtl / 1000),
      })
  }
}

/** The flags that name an etcd. */
export type EtcdFlags = Pick<ServeOptions, 'etcdServers' | 'etcdPrefix' | 'etcdCafile' | 'etcdCertfile' | 'etcdKeyfile'>

export interface EtcdParts extends StorageParts, Transforming {
  readonly historyMs?: number
  readonly compactionIntervalMs: number
  readonly spaceIntervalMs: number
  /** Default one hour. */
  readonly eventTtlSeconds?: number
}

/** Opens the etcd that flags name. @throws CliError, StorageError */
export async function openEtcd(flags: EtcdFlags, { catalog, log, eventTtlSeconds, ...options }: EtcdParts): Promise<Storage> {
  const { etcdServers: endpoints, etcdPrefix: prefix } = flags
  if (endpoints.length === 0) throw new CliError({ code: 'InvalidFlag', message: '--storage=etcd needs --etcd-servers' })
  const tls = await tlsFiles(flags)
  const [{ etcdStorage }, { createStoredForm }] = await Promise.all([
    import('@krmkit/storage/etcd'),
    import('@krmkit/registry/stored-form'),
  ])
  return etcdStorage({
    ...options,
    clock: systemClock,
    endpoints,
    prefix,
    ...(tls === undefined ? {} : { tls }),
    form: createStoredForm({ catalog, ...(eventTtlSeconds === undefined ? {} : { eventTtlSeconds }) }),
    onError: (error) => log.error('etcd', error),
  })
}

async function tlsFiles({ etcdCafile, etcdCertfile, etcdKeyfile }: EtcdFlags) {
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
