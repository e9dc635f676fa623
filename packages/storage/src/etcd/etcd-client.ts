/** A thin typed client of etcd: keys, watches, leases and maintenance. */
import { Endpoints, RpcError, type RpcMethod, type RpcTls, unavailableStatus } from '@krmkit/grpc'
import {
  type CompactionRequest,
  compactionRequest,
  compactionResponse,
  emptyMessage,
  type LeaseGrantRequest,
  type LeaseGrantResponse,
  leaseGrantRequest,
  leaseGrantResponse,
  leaseRevokeRequest,
  type RangeRequest,
  type RangeResponse,
  type ResponseHeader,
  rangeRequest,
  rangeResponse,
  type StatusResponse,
  snapshotResponse,
  statusResponse,
  type TxnRequest,
  type TxnResponse,
  txnRequest,
  txnResponse,
} from './messages.ts'
import { WatchStream } from './watch-stream.ts'

export interface EtcdClientOptions {
  /** `https://host:port`, `http://host:port` or `unix:///path`: the members of one cluster. */
  readonly endpoints: readonly string[]
  readonly tls?: RpcTls | undefined
  /** Timeout of a call, in milliseconds. Default 10 seconds. */
  readonly timeoutMs?: number | undefined
}

export interface CallOptions {
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

const range: RpcMethod<RangeRequest, RangeResponse> = {
  path: '/etcdserverpb.KV/Range',
  request: rangeRequest,
  response: rangeResponse,
}
const txn: RpcMethod<TxnRequest, TxnResponse> = { path: '/etcdserverpb.KV/Txn', request: txnRequest, response: txnResponse }
const compact: RpcMethod<CompactionRequest, { header: ResponseHeader }> = {
  path: '/etcdserverpb.KV/Compact',
  request: compactionRequest,
  response: compactionResponse,
}
const grant: RpcMethod<LeaseGrantRequest, LeaseGrantResponse> = {
  path: '/etcdserverpb.Lease/LeaseGrant',
  request: leaseGrantRequest,
  response: leaseGrantResponse,
}
const revoke = { path: '/etcdserverpb.Lease/LeaseRevoke', request: leaseRevokeRequest, response: emptyMessage }
const status: RpcMethod<object, StatusResponse> = {
  path: '/etcdserverpb.Maintenance/Status',
  request: emptyMessage,
  response: statusResponse,
}
const snapshot = { path: '/etcdserverpb.Maintenance/Snapshot', request: emptyMessage, response: snapshotResponse }

const defaultTimeoutMs = 10_000
/** Number of attempts of a read; each attempt uses the next member. */
const readAttempts = 3

/**
 * The client repeats failed reads at another member. It never repeats writes.
 *
 * @throws RpcError from every method
 */
export class EtcdClient {
  readonly #endpoints: Endpoints
  readonly #timeoutMs: number

  constructor({ endpoints, tls, timeoutMs = defaultTimeoutMs }: EtcdClientOptions) {
    this.#endpoints = new Endpoints(endpoints, { tls, what: 'member of etcd' })
    this.#timeoutMs = timeoutMs
  }

  /** Reads keys. Linearizable unless `serializable` is set. */
  range(request: RangeRequest, options: CallOptions = {}): Promise<RangeResponse> {
    return this.#read(range, request, options)
  }

  /** Compares, and then writes or reads, in one step. Never repeated. */
  txn(request: TxnRequest, options: CallOptions = {}): Promise<TxnResponse> {
    return this.#call(txn, request, options)
  }

  /** Drops history before a revision. */
  async compact(revision: number, options: CallOptions = {}): Promise<void> {
    await this.#call(compact, { revision }, options)
  }

  /** Creates a lease. @param seconds lifetime, after which the keys of the lease are removed @returns the identifier of the lease */
  async grantLease(id: number, seconds: number, options: CallOptions = {}): Promise<number> {
    const { ID, error } = await this.#call(grant, { ID: id, TTL: seconds }, options)
    if (error !== '') throw new RpcError({ status: unavailableStatus, message: error })
    return ID
  }

  /** Ends a lease and removes its keys. */
  async revokeLease(id: number, options: CallOptions = {}): Promise<void> {
    await this.#call(revoke, { ID: id }, options)
  }

  /** Version, sizes and problems of the member in use. */
  status(options: CallOptions = {}): Promise<StatusResponse> {
    return this.#read(status, {}, options)
  }

  /** Streams the database file of the member in use, followed by its checksum. */
  async *snapshot(): AsyncGenerator<Uint8Array> {
    for await (const { blob } of this.#endpoints.download(snapshot, {}, this.#timeoutMs)) yield blob
  }

  /** Opens a stream for watches. */
  watchStream(options: CallOptions = {}): Promise<WatchStream> {
    return WatchStream.open(this.#endpoints, options.timeoutMs ?? this.#timeoutMs)
  }

  /** Ends all calls. */
  close(): void {
    this.#endpoints.close()
  }

  #call<Request extends object, Response extends object>(
    method: RpcMethod<Request, Response>,
    request: Partial<Request>,
    { timeoutMs = this.#timeoutMs, signal }: CallOptions,
  ): Promise<Response> {
    return this.#endpoints.call(method, request, { timeoutMs, signal })
  }

  async #read<Request extends object, Response extends object>(
    method: RpcMethod<Request, Response>,
    request: Partial<Request>,
    options: CallOptions,
  ): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#call(method, request, options)
      } catch (error) {
        const isOver = attempt === readAttempts || options.signal?.aborted === true
        if (isOver || !(error instanceof RpcError) || error.unsent || error.status !== unavailableStatus) throw error
      }
    }
  }
}

/** The key after the last one that begins with a prefix. */
export function endOfKeyPrefix(prefix: Uint8Array): Uint8Array {
  const end = new Uint8Array(prefix)
  for (let at = end.length - 1; at >= 0; at--) {
    if (end[at]! === 0xff) continue
    end[at]!++
    return end.subarray(0, at + 1)
  }
  return Uint8Array.of(0)
}
