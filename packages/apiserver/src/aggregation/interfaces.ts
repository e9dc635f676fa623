import type { ServiceResolver } from '@krmkit/admission/webhooks'
import type { Handler, ProxyTransport } from '@krmkit/protocol'

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
