import type { ProxyTransport, ServiceAddress } from '@krmkit/protocol'

/** How the server reaches pods, services and nodes, for the subresources `proxy`, `exec`, `attach`, `portforward` and `log`. */
export interface ProxyOptions {
  /** Default: none, so that every connection fails. `createProxyTransport()` of `@krmkit/http` is one. */
  readonly transport?: ProxyTransport
  /**
   * Maps the address of a pod or node to the one to connect to, after the address was checked. Loopback and link-local addresses of
   * pods and nodes are refused as on kube-apiserver; a test whose backends listen on loopback maps other addresses to them.
   * Default: the same address.
   */
  readonly dial?: (address: ServiceAddress) => ServiceAddress
  readonly kubelet?: KubeletOptions
}

/** How the server connects to kubelets. */
export interface KubeletOptions {
  /** PEM of the authorities of kubelets. Absent: their certificates are not verified. */
  readonly ca?: string
  /** Client certificate of this server; called for each connection, since certificates are renewed. Default: none. */
  readonly identity?: () => { readonly certificate: string; readonly key: string } | undefined
  /** Port of kubelets whose node states none. Default 10250. */
  readonly port?: number
  /** Types of node addresses, preferred first. Default: Hostname, InternalDNS, InternalIP, ExternalDNS, ExternalIP. */
  readonly preferredAddressTypes?: readonly string[]
}

/** Where a request is passed on to. */
export interface Location {
  readonly scheme: 'http' | 'https'
  /** Address or name, as the object states it. */
  readonly host: string
  /** Undefined: the port of the scheme. */
  readonly port: number | undefined
  /** Checked canonical addresses to connect to. Absent: those of `host`. */
  readonly addresses?: readonly string[]
  /** The peer is a kubelet: it gets the client certificate of this server, and its own is verified. */
  readonly kubelet?: boolean
  /** The certificate of the kubelet is not verified. */
  readonly unverified?: boolean
}
