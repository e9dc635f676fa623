import { connectableHost } from '@krmkit/base/ip'
import type { ProxyConnection, ProxyTarget, ServiceAddress } from '@krmkit/protocol'
import { hostAndPort } from './addresses.ts'
import type { Location, ProxyOptions } from './interfaces.ts'

/** Maximum number of connections kept for further requests. */
const maxConnections = 256

/** A connection to a location, and the address to connect to. */
export interface Backend {
  readonly connection: ProxyConnection
  readonly address: ServiceAddress
}

/** Connects to pods and nodes, and keeps the connections that were used last. */
export class Backends {
  readonly options: ProxyOptions
  /** By target, in order of last use. */
  readonly #connections = new Map<string, ProxyConnection>()

  constructor(options: ProxyOptions, closing: AbortSignal) {
    this.options = options
    closing.addEventListener('abort', () => this.#close(0), { once: true })
  }

  /** @throws Error when no transport is configured, certificates cannot be used, or the host is neither an address nor a name. */
  connect(location: Location): Backend {
    const { scheme, port = scheme === 'http' ? 80 : 443 } = location
    const { dial = sameAddress, transport } = this.options
    if (transport === undefined) throw new Error('no transport is configured: pods and nodes cannot be reached')
    const host = connectableHost(location.host)
    if (host === undefined) throw new Error(`dial tcp: lookup ${location.host}: no such host`)
    const target = this.#targetOf(location, `${scheme}://${hostAndPort({ host, port })}`)
    const key = JSON.stringify(target)
    const connection = this.#connections.get(key) ?? transport.open(target)
    this.#connections.delete(key)
    this.#connections.set(key, connection)
    this.#close(maxConnections)
    return { connection, address: dial({ host: location.addresses?.[0] ?? host, port }) }
  }

  #targetOf({ kubelet: isKubelet, unverified, scheme }: Location, origin: string): ProxyTarget {
    if (scheme === 'http') return { origin }
    // Certificates of pods do not contain the address of the pod, so they are not verified.
    if (isKubelet !== true) return { origin, insecure: true }
    const { ca, identity } = this.options.kubelet ?? {}
    return { origin, ...(ca === undefined || unverified === true ? { insecure: true } : { ca }), ...identity?.() }
  }

  /** Closes the least recently used connections, except for `kept`. Requests in flight continue. */
  #close(kept: number): void {
    for (const [key, connection] of this.#connections) {
      if (this.#connections.size <= kept) return
      this.#connections.delete(key)
      connection.close()
    }
  }
}

function sameAddress(address: ServiceAddress): ServiceAddress {
  return address
}
