import type { Socket } from 'node:net'

export interface PendingLimits {
  readonly pendingConnections: number
  readonly pendingConnectionsPerAddress: number
}

/**
 * Connections that have not yet sent a whole request head (over TLS: not yet ended the handshake, too). Their number is bounded, in all and
 * for each address; above a bound the connection that has waited longest is closed, which is rarely one of an honest client.
 */
export class PendingConnections {
  readonly #limits: PendingLimits
  /** In the order of arrival. */
  readonly #all = new Map<string, Socket>()
  readonly #byAddress = new Map<string, Map<string, Socket>>()

  constructor(limits: PendingLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#all.size
  }

  add(socket: Socket): void {
    const { remoteAddress: address, remotePort: port } = socket
    // Closed already.
    if (address === undefined || port === undefined) return
    const key = keyOf(address, port)
    this.#all.set(key, socket)
    const own = this.#byAddress.get(address) ?? new Map<string, Socket>()
    this.#byAddress.set(address, own)
    own.set(key, socket)
    socket.once('close', () => {
      if (this.#all.get(key) === socket) this.#remove(key, address)
    })
    if (own.size > this.#limits.pendingConnectionsPerAddress) this.#closeOldest(own)
    if (this.#all.size > this.#limits.pendingConnections) this.#closeOldest(this.#all)
  }

  /** The connection under `socket`, which has the same ends, while it is pending. */
  find({ remoteAddress: address, remotePort: port }: Pick<Socket, 'remoteAddress' | 'remotePort'>): Socket | undefined {
    return address === undefined || port === undefined ? undefined : this.#all.get(keyOf(address, port))
  }

  /** A whole head has arrived. */
  settle({ remoteAddress: address, remotePort: port }: Pick<Socket, 'remoteAddress' | 'remotePort'>): void {
    if (address !== undefined && port !== undefined) this.#remove(keyOf(address, port), address)
  }

  #closeOldest(sockets: ReadonlyMap<string, Socket>): void {
    const [entry] = sockets
    if (entry === undefined) return
    const [key, socket] = entry
    this.#remove(key, key.slice(0, key.lastIndexOf(' ')))
    socket.destroy()
  }

  #remove(key: string, address: string): void {
    this.#all.delete(key)
    const own = this.#byAddress.get(address)
    own?.delete(key)
    if (own?.size === 0) this.#byAddress.delete(address)
  }
}

function keyOf(address: string, port: number): string {
  return `${address} ${port}`
}
