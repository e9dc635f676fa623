import type { ProxyTransport, ServiceAddress } from '@krmkit/protocol'

/** How the server reaches pods, services and nodes, for the subresources `proxy`, `exec`, `attach`, `portforward` and `log`. */
export interface ProxyOptions {
  /** Default: none, so that every connection fails. `createProxyTransport()` of `@krmkit/http` is one. */
  readonly transport?: ProxyTransport
  /**
   * Maps the checked address of a pod or node to the address to connect to. Loopback and link-local addresses of pods and nodes are
   * refused, as on kube-apiserver; a test whose backends listen on loopback can map other addresses to loopback addresses. Default: the
   * same address.
   */
  readonly dial?: (address: ServiceAddress) => ServiceAddress
  readonly kubelet?: KubeletOptions
}

/** How the server connects to kubelets. */
export interface KubeletOptions {
  /** PEM of the certificate authorities of kubelets. Absent: certificates of kubelets are not verified. */
  readonly ca?: string
  /** Client certificate of this server; called for each connection, since certificates are renewed. Default: none. */
  readonly identity?: () => { readonly certificate: string; readonly key: string } | undefined
  /** Port of kubelets whose Node object has none. Default 10250. */
  readonly port?: number
  /** Types of node addresses, preferred first. Default: Hostname, InternalDNS, InternalIP, ExternalDNS, ExternalIP. */
  readonly preferredAddressTypes?: readonly string[]
}

/** The destination of a proxied request. */
export interface Location {
  readonly scheme: 'http' | 'https'
  /** Address or name, as written in the object. */
  readonly host: string
  /** Undefined: the port of the scheme. */
  readonly port: number | undefined
  /** Checked canonical addresses to connect to. Absent: the addresses of `host`. */
  readonly addresses?: readonly string[]
  /** Whether the peer is a kubelet, which gets the client certificate of this server and whose certificate is verified. */
  readonly kubelet?: boolean
  /** Whether to skip verification of the kubelet's certificate. */
  readonly unverified?: boolean
}
