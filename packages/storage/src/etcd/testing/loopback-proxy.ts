/** A TCP proxy on loopback that can cut, stall and slow down connections. */
import { connect, createServer, type Server, type Socket } from 'node:net'

/** Returns the peer that opened the connection from a local port. */
export type SourceOf = (port: number, proxyPort: number) => string | undefined

export class LoopbackProxy {
  readonly url: string
  readonly port: number
  readonly #server: Server
  readonly #target: number
  readonly #sourceOf: SourceOf
  /** With the source of their connection. */
  readonly #sockets = new Map<Socket, string | undefined>()
  #isPartitioned: (source: string | undefined) => boolean = () => false
  #delayMs = 0

  private constructor(server: Server, target: number, sourceOf: SourceOf) {
    this.#server = server
    this.#target = target
    this.#sourceOf = sourceOf
    const address = server.address()
    this.port = typeof address === 'object' && address !== null ? address.port : 0
    this.url = `http://127.0.0.1:${this.port}`
    server.on('connection', (socket) => this.#relay(socket))
  }

  /** @param sourceOf identifies the source of a connection, for partitions of single sources */
  static start(targetPort: number, sourceOf: SourceOf = () => undefined): Promise<LoopbackProxy> {
    return new Promise((resolve, reject) => {
      const server = createServer()
      server.on('error', reject)
      server.listen(0, '127.0.0.1', () => resolve(new LoopbackProxy(server, targetPort, sourceOf)))
    })
  }

  /** Stops all data until `heal`, while connections stay open. @param source only connections of this source */
  partition(source?: string): void {
    this.#isPartitioned = source === undefined ? () => true : (other) => other === source
    for (const [socket, from] of this.#sockets) if (this.#isPartitioned(from)) socket.pause()
  }

  /** Ends a partition: data sent during the partition arrives, or is lost with its connection. */
  heal({ lost }: { readonly lost: boolean }): void {
    this.#isPartitioned = () => false
    if (lost) this.cut()
    for (const socket of this.#sockets.keys()) socket.resume()
  }

  /** Delays data in both directions. */
  delay(milliseconds: number): void {
    this.#delayMs = milliseconds
  }

  /** Resets all connections. */
  cut(): void {
    for (const socket of this.#sockets.keys()) socket.destroy()
    this.#sockets.clear()
  }

  close(): void {
    this.cut()
    this.#server.close()
  }

  #relay(client: Socket): void {
    const upstream = connect(this.#target, '127.0.0.1')
    const source = this.#sourceOf(client.remotePort ?? 0, this.port)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.set(from, source)
      // Without Nagle's algorithm: a network passes small packets on at once.
      from.setNoDelay(true)
      const pass = this.#line()
      from.on('data', (chunk) => pass(() => to.write(chunk)))
      from.on('end', () => pass(() => to.end()))
      from.on('error', () => to.destroy())
      from.on('close', () => {
        this.#sockets.delete(from)
        to.destroy()
      })
      if (this.#isPartitioned(source)) from.pause()
    }
  }

  /** One direction of a connection: delivers in order, each after the delay. */
  #line(): (deliver: () => void) => void {
    let last: Promise<void> | undefined
    return (deliver) => {
      const arrivalMs = performance.now() + this.#delayMs
      if (last === undefined && this.#delayMs === 0) return deliver()
      const delivered = (last ?? Promise.resolve())
        .then(() => new Promise((resolve) => setTimeout(resolve, arrivalMs - performance.now())))
        .then(deliver)
        .finally(() => {
          if (last === delivered) last = undefined
        })
      last = delivered
    }
  }
}
