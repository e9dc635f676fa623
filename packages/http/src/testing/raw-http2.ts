import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { encodeFields, HpackDecoder, type RawField } from '@krmkit/base/hpack'
import { HeaderList } from '../header-list.ts'

export { encodeFields, type RawField }

/** An HTTP/2 client that sends hand-made frames. */

export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
}
export const flags = { end: 1, ack: 1, endHeaders: 4, padded: 8, priority: 0x20 }

export interface RawFrame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/**
 * Encodes an HTTP/2 frame; members of `more` default to zero.
 *
 * @example
 * import { encodeFields, encodeFrame, flags, frameTypes } from '@krmkit/http/testing'
 * const payload = encodeFields([[':method', 'GET'], [':path', '/version']])
 * const frame = encodeFrame(frameTypes.headers, { flags: flags.end | flags.endHeaders, stream: 1, payload })
 * frame.length - payload.length // 9
 */
export function encodeFrame(type: number, more: { flags?: number; stream?: number; payload?: Buffer } = {}): Buffer {
  const { payload = Buffer.alloc(0), stream = 0 } = more
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = more.flags ?? 0
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

export const requestFields: readonly RawField[] = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/'],
  [':authority', 'h'],
]

export interface RawResponse {
  /** 0 when there is no response. */
  readonly status: number
  readonly body: string
  /** Error code of RST_STREAM. */
  readonly reset: number | undefined
  readonly ended: boolean
}

/** A TLS connection that records received frames and acknowledges SETTINGS and PING. */
export class RawHttp2 {
  readonly socket: TLSSocket
  readonly frames: RawFrame[] = []
  readonly closed: Promise<void>
  readonly #decoder = new HpackDecoder()
  readonly #statuses = new Map<number, number>()
  #pending = Buffer.alloc(0)
  #wake: (() => void)[] = []

  constructor(port: number, more: ConnectionOptions = {}) {
    this.socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['h2'], ...more })
    this.socket.on('error', () => undefined)
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()))
    void this.closed.then(() => this.#notify())
    this.socket.on('data', (chunk: Buffer) => this.#take(chunk))
    this.send(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), encodeFrame(frameTypes.settings))
  }

  send(...frames: Buffer[]): this {
    this.socket.write(Buffer.concat(frames))
    return this
  }

  /** Sends a complete request without a body. */
  request(stream: number, fields: readonly RawField[], options: { readonly indexed?: boolean } = {}): this {
    const payload = encodeFields([...requestFields, ...fields], options)
    return this.send(encodeFrame(frameTypes.headers, { flags: flags.end | flags.endHeaders, stream, payload }))
  }

  /** Waits for the end of a stream. @returns its response */
  async response(stream: number): Promise<RawResponse> {
    for (;;) {
      const own = this.frames.filter((frame) => frame.stream === stream)
      const reset = own.find(({ type }) => type === frameTypes.reset)
      const data = own.filter(({ type }) => type === frameTypes.data)
      const ended = own.some(({ type, flags: set }) => type <= frameTypes.headers && (set & flags.end) !== 0)
      const body = Buffer.concat(data.map(({ payload }) => payload)).toString()
      if (ended || reset !== undefined || this.socket.closed)
        return { status: this.#statuses.get(stream) ?? 0, body, reset: reset?.payload.readUInt32BE(0), ended }
      await this.arrival()
    }
  }

  /** Resolves on the next input or when the connection closes. */
  arrival(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve))
  }

  #take(chunk: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, chunk])
    while (this.#pending.length >= 9) {
      const length = this.#pending.readUIntBE(0, 3)
      if (this.#pending.length < 9 + length) break
      const [type = 0, set = 0] = this.#pending.subarray(3, 5)
      const payload = this.#pending.subarray(9, 9 + length)
      const stream = this.#pending.readUInt32BE(5)
      this.frames.push({ type, flags: set, stream, payload })
      if (type === frameTypes.headers) this.#head(stream, payload)
      this.#pending = this.#pending.subarray(9 + length)
      if (type === frameTypes.settings && set === 0) this.send(encodeFrame(frameTypes.settings, { flags: flags.ack }))
    }
    this.#notify()
  }

  #head(stream: number, block: Buffer): void {
    const list = new HeaderList(100_000)
    this.#decoder.decode(block, list)
    const at = list.raw.indexOf(':status')
    if (at >= 0) this.#statuses.set(stream, Number(list.raw[at + 1]))
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake()
  }
}
