import type { ServiceAddress, ServiceResolver, WebhookTarget } from '@krmkit/admission'
import type { ApiResponse, Handler } from '../interfaces.ts'

/** What other servers are reached by that serve group versions of this one's API. */
export interface Aggregation {
  /** Absent: only services in this process can be reached. */
  readonly transport?: ProxyTransport
  /** Finds services. Default: services of the cluster, as `routing` says. */
  readonly resolveService?: ServiceResolver
  /** `clusterIP` (default): at their addresses. `endpoints`: at one of the addresses behind them, `--enable-aggregator-routing`. */
  readonly routing?: 'clusterIP' | 'endpoints'
  /** Answers that lead elsewhere are passed on; otherwise they are answered with 502. Default false. */
  readonly forwardRedirects?: boolean
  /** Who this server is to the others. Asked again now and then, since certificates are renewed. Default: nobody. */
  readonly identity?: () => ProxyIdentity | undefined
  /** Services that are handlers in this process, by `namespace/name`. They are told who asks by `user` of the request. */
  readonly services?: Readonly<Record<string, Handler>>
}

/** PEM of a certificate and its key: `--proxy-client-cert-file`, `--proxy-client-key-file`. */
export interface ProxyIdentity {
  readonly certificate: string
  readonly key: string
}

/** A request that is passed on. */
export interface ProxiedRequest {
  readonly method: string
  /** Path and query as they go on the wire. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** Where to connect. Default: where the target is found. */
  readonly address?: ServiceAddress
  /** In pieces it is sent only as fast as the other server takes it; absent: there is none. */
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
  /** The headers ask for another protocol: the answer's body may be a `connection`. */
  readonly upgrade?: boolean
  readonly signal: AbortSignal
}

/**
 * Passes requests on; the answer's body is a stream, or a connection after 101. Rejects with an Error that tells why there is no
 * answer. Redirections are not followed.
 */
export interface ProxyTransport {
  /** @throws Error when authorities, certificate or key cannot be used. */
  open(target: ProxyTarget): ProxiedTarget
}

export interface ProxiedTarget {
  send(request: ProxiedRequest): Promise<ApiResponse>
  /** Requests under way go on; nothing new is sent, and idle connections end. */
  close(): void
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
