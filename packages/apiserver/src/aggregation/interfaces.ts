import type { ServiceResolver } from '@krmkit/admission/webhooks'
import type { Handler, ProxyTransport } from '@krmkit/protocol'

/** How the aggregation layer reaches the servers that APIService objects name. */
export interface Aggregation {
  /** Default: none, so that only `services` can be reached. */
  readonly transport?: ProxyTransport
  /** Resolves services to addresses. Default: services of the cluster, by `routing`. */
  readonly resolveService?: ServiceResolver
  /** `clusterIP` (default): the address of the service. `endpoints`: a random endpoint, `--enable-aggregator-routing`. */
  readonly routing?: 'clusterIP' | 'endpoints'
  /** Whether redirects are returned to the client; otherwise they become 502. Default false. */
  readonly forwardRedirects?: boolean
  /** Client certificate of this server; called again before each check, since certificates are renewed. Default: none. */
  readonly identity?: () => ProxyIdentity | undefined
  /** Services that are handlers in this process, by `namespace/name`. `user` of the request carries the authenticated user. */
  readonly services?: Readonly<Record<string, Handler>>
}

/** PEM of a client certificate and its key: `--proxy-client-cert-file`, `--proxy-client-key-file`. */
export interface ProxyIdentity {
  readonly certificate: string
  readonly key: string
}
