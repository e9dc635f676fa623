import { join } from 'node:path'
import type { Catalog } from '@krmkit/kinds'
import { systemClock } from '@krmkit/meta'
import { lmdbStorage, memoryStorage, type Storage } from '@krmkit/storage'
import { CliError } from '../cli-error.ts'
import { readText } from '../files.ts'
import { readKeyPair } from '../key-pair.ts'
import type { Log } from '../log.ts'
import type { ServeOptions } from '../serve-options.ts'

export interface StorageParts {
  readonly catalog: Catalog
  readonly log: Log
}

/** Opens the storage that the flags choose. @throws CliError for flags or files that cannot be used; StorageError */
export async function openStorage(options: ServeOptions, parts: StorageParts): Promise<Storage> {
  const common = { clock: systemClock, historyMs: options.etcdCompactionInterval }
  switch (options.storage) {
    case 'memory':
      return memoryStorage(common)
    case 'durable':
      return lmdbStorage({ ...common, dir: join(options.dataDir, 'data') })
    case 'etcd':
      return openEtcd(options, common, parts)
  }
}

async function openEtcd(
  options: ServeOptions,
  common: { readonly clock: typeof systemClock; readonly historyMs: number },
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
