import { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'

/** A TLS connection whose input passes through a filter before the HTTP/2 session reads it. */
export class FilteredConnection extends Duplex {
  readonly #socket: TLSSocket
  #passing = true
  /** Time of the last read or write. */
  activeAtMs = performance.now()

  /** @param filter returns the bytes to pass on, or undefined to drop this chunk and read no further input */
  constructor(socket: TLSSocket, filter: (chunk: Buffer) => Buffer | undefined) {
    super({ allowHalfOpen: false, readableHighWaterMark: socket.readableHighWaterMark })
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => {
      if (!this.#passing) return
      this.activeAtMs = performance.now()
      const passed = filter(chunk)
      if (passed === undefined) {
        this.#passing = false
        socket.pause()
      } else if (passed.length > 0 && !this.push(passed)) socket.pause()
    })
    // Not `push(null)`: node then ends the connection on its own, and fails when the session writes in the meantime.
    socket.on('end', () => this.destroy())
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  override _read(): void {
    if (this.#passing) this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.activeAtMs = performance.now()
    this.#socket.write(chunk, done)
  }

  override _writev(chunks: { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    const last = chunks.length - 1
    this.activeAtMs = performance.now()
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
