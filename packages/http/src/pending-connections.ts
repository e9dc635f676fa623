import type { Socket } from 'node:net'

export interface PendingLimits {
  readonly pendingConnections: number
  readonly pendingConnectionsPerAddress: number
}

/**
 * Connections without a complete request head, including those in the TLS handshake. Their number is bounded in total and per address;
 * above a bound, the oldest connection is closed, which rarely belongs to a well-behaved client.
 */
export class PendingConnections {
  readonly #limits: PendingLimits
  /** Oldest first. */
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
    // The socket is already closed.
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

  /** Returns the pending connection with the addresses of `socket`: the TCP socket below a TLS socket. */
  find({ remoteAddress: address, remotePort: port }: Pick<Socket, 'remoteAddress' | 'remotePort'>): Socket | undefined {
    return address === undefined || port === undefined ? undefined : this.#all.get(keyOf(address, port))
  }

  /** Removes a connection whose first request head is complete. */
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
