/** A TCP proxy on loopback that can cut and stall connections. */
import { connect, createServer, type Server, type Socket } from 'node:net'

export class LoopbackProxy {
  readonly url: string
  readonly #server: Server
  readonly #target: number
  readonly #sockets = new Set<Socket>()
  #isPartitioned = false

  private constructor(server: Server, target: number) {
    this.#server = server
    this.#target = target
    const address = server.address()
    this.url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
    server.on('connection', (socket) => this.#relay(socket))
  }

  static start(targetPort: number): Promise<LoopbackProxy> {
    return new Promise((resolve, reject) => {
      const server = createServer()
      server.on('error', reject)
      server.listen(0, '127.0.0.1', () => resolve(new LoopbackProxy(server, targetPort)))
    })
  }

  /** Neither side receives anything, and connections stay open, until `heal`. */
  partition(): void {
    this.#isPartitioned = true
    for (const socket of this.#sockets) socket.pause()
  }

  /** Ends a partition: what was sent meanwhile arrives, or is lost with its connection. */
  heal({ lost }: { readonly lost: boolean }): void {
    this.#isPartitioned = false
    if (lost) this.cut()
    for (const socket of this.#sockets) socket.resume()
  }

  /** Resets all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
  }

  close(): void {
    this.cut()
    this.#server.close()
  }

  #relay(client: Socket): void {
    const upstream = connect(this.#target, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(from)
      from.on('data', (chunk) => to.write(chunk))
      from.on('end', () => to.end())
      from.on('error', () => to.destroy())
      from.on('close', () => {
        this.#sockets.delete(from)
        to.destroy()
      })
      if (this.#isPartitioned) from.pause()
    }
  }
}
