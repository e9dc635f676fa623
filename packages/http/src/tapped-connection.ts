import { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'

/**
 * A TLS connection as a session of HTTP/2 gets it: every chunk that arrives is shown to `observe` first. Chunks are passed on as they are.
 */
export class TappedConnection extends Duplex {
  readonly #socket: TLSSocket

  /** @param observe false: the chunk is not passed on, nor anything after it. */
  constructor(socket: TLSSocket, observe: (chunk: Buffer) => boolean) {
    super({ allowHalfOpen: false, readableHighWaterMark: socket.readableHighWaterMark })
    this.#socket = socket
    let passing = true
    socket.on('data', (chunk: Buffer) => {
      passing &&= observe(chunk)
      if (passing && !this.push(chunk)) socket.pause()
    })
    socket.on('end', () => this.push(null))
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done)
  }

  override _writev(chunks: { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    const last = chunks.length - 1
    this.#socket.cork()
    for (let i = 0; i < last; i++) this.#socket.write(chunks[i]!.chunk)
    this.#socket.write(chunks[last]!.chunk, done)
    this.#socket.uncork()
  }

  override _final(done: () => void): void {
    this.#socket.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }
}
