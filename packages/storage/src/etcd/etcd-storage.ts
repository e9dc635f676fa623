import type { RpcTls } from '@krmkit/grpc'
import { Follower } from '../follower/follower.ts'
import { PreparingBackend } from '../follower/preparing-backend.ts'
import { opaqueForm, type StoredForm, transformedForm } from '../follower/stored-form.ts'
import type { Storage } from '../interfaces.ts'
import { resolveOptions, type StorageOptions } from '../options.ts'
import { StorageError } from '../storage-error.ts'
import { identityTransformer, type ValueTransformer } from '../value-transformer.ts'
import { Compactor } from './compactor.ts'
import { EtcdBackend } from './etcd-backend.ts'
import { EtcdClient } from './etcd-client.ts'
import { defaultPrefix, Layout } from './layout.ts'
import { SpaceReports } from './space-reports.ts'

/** PEM texts for TLS to the members of etcd. */
export type EtcdTls = RpcTls

export interface EtcdStorageOptions extends StorageOptions {
  /** Members of one etcd cluster: `https://host:port`, `http://host:port` or `unix:///path`. */
  readonly endpoints: readonly string[]
  readonly tls?: EtcdTls
  /** Root of all keys. Default `/registry`. */
  readonly prefix?: string
  /** Converts values and maps keys. Default: values are stored unchanged, below the root. */
  readonly form?: StoredForm
  /** Encrypts values. Default: values are stored in clear. */
  readonly transformer?: ValueTransformer
  /** How long a write or a consistent read waits for etcd, in milliseconds. Default 10 seconds. */
  readonly timeoutMs?: number
  /** Interval of compactions of etcd, in milliseconds; 0: never. Default 5 minutes. */
  readonly compactionIntervalMs?: number
  /** Interval of the requests for sizes and alarms of etcd, which `stats` reports, in milliseconds; 0: never. Default 30 seconds. */
  readonly spaceIntervalMs?: number
  /** Called for lost connections, failed compactions, and values that cannot be decoded, which are skipped. */
  readonly onError?: (error: unknown) => void
}

const defaultTimeoutMs = 10_000
const defaultCompactionIntervalMs = 5 * 60_000
const defaultSpaceIntervalMs = 30_000

/**
 * Opens a store in etcd that several servers can share, including kube-apiserver. The store mirrors etcd in memory, so reads are local. A
 * write is one transaction, and resolves when its event has arrived.
 *
 * `encode` runs twice: with 0 for the bytes to store, and again with the revision that etcd has assigned. Writes to different keys are
 * ordered by etcd, not by the order of calls.
 *
 * @throws StorageError `Unavailable`: with reason `remote` when etcd cannot be reached, `encryption` when a value cannot be decrypted
 * @example
 * import { etcdStorage } from '@krmkit/storage/etcd'
 * await using storage = await etcdStorage({ endpoints: ['http://127.0.0.1:2379'] })
 * await storage.put('/core/configmaps/shop/web', () => new TextEncoder().encode('{}'), { expect: 0 })
 */
export async function etcdStorage(options: EtcdStorageOptions): Promise<Storage> {
  const { endpoints, tls, transformer = identityTransformer, timeoutMs = defaultTimeoutMs, onError = () => undefined } = options
  const plain = options.form ?? opaqueForm
  const client = new EtcdClient({ endpoints, tls, timeoutMs })
  const layout = new Layout(options.prefix ?? defaultPrefix, plain.collections)
  const form = transformedForm(plain, transformer, (key) => layout.toEtcd(key))
  const spaceIntervalMs = options.spaceIntervalMs ?? defaultSpaceIntervalMs
  const space = spaceIntervalMs === 0 ? undefined : new SpaceReports({ client, intervalMs: spaceIntervalMs })
  const direct = new EtcdBackend({ client, layout, writeTimeoutMs: timeoutMs, ...(space === undefined ? {} : { space }) })
  const backend = transformer.prepare === undefined ? direct : new PreparingBackend(direct, { transformer, onError })
  const intervalMs = options.compactionIntervalMs ?? defaultCompactionIntervalMs
  const compactor = intervalMs === 0 ? undefined : new Compactor({ client, intervalMs, onError })
  const close = () => {
    compactor?.close()
    space?.close()
    client.close()
  }
  try {
    const follower = await Follower.open({
      backend: Object.assign(backend, { close }),
      form,
      limits: resolveOptions(options),
      timeoutMs,
      onError,
    })
    compactor?.start()
    space?.start()
    return follower
  } catch (cause) {
    close()
    if (cause instanceof StorageError) throw cause
    const problem = `etcd cannot be opened: ${cause instanceof Error ? cause.message : String(cause)}`
    throw new StorageError({ code: 'Unavailable', reason: 'remote', problem, cause })
  }
}
