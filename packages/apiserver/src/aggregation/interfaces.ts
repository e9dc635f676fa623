import type { ServiceResolver, WebhookTarget } from '@krmkit/admission'
import type { ApiResponse, Handler } from '../interfaces.ts'

/** What other servers are reached by that serve group versions of this one's API. */
export interface Aggregation {
  /** Absent: only services in this process can be reached. */
  readonly transport?: ProxyTransport
  /** Default: services of the cluster, at their addresses. */
  readonly resolveService?: ServiceResolver
  /** PEM of the certificate that this server proves itself with, and its key: `--proxy-client-cert-file`. */
  readonly certificate?: string
  readonly key?: string
  /** Services that are handlers in this process, by `namespace/name`. They are told who asks by `user` of the request. */
  readonly services?: Readonly<Record<string, Handler>>
}

/** A request that is passed on. */
export interface ProxiedRequest {
  readonly method: string
  /** Path and query as they go on the wire. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: Uint8Array
  readonly signal: AbortSignal
}

/** Passes requests on; the answer's body is a stream. Rejects with an Error that tells why there is no answer. */
export interface ProxyTransport {
  /** @throws Error when authorities, certificate or key cannot be used. */
  open(target: ProxyTarget): (request: ProxiedRequest) => Promise<ApiResponse>
}

export interface ProxyTarget extends WebhookTarget {
  /** Whose certificate it is does not matter. */
  readonly insecure?: boolean
}

/** A group version that another server serves, as discovery shows it. */
export interface RemoteVersion {
  readonly group: string
  readonly version: string
  readonly groupPriority: number
  readonly versionPriority: number
  /** `APIResourceDiscovery`; absent until the other server has told. */
  readonly resources: readonly object[] | undefined
  /** It told when it was asked last. */
  readonly current: boolean
}
