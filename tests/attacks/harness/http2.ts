import type { TLSSocket } from 'node:tls'
import { openTls, type RawAnswer, type RawHeader, type RawOptions, type RawRequest } from './http1.ts'

/** Raw HTTP/2 frames: sends header values that client libraries reject. */

export const frameTypes = {
  data: 0,
  headers: 1,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const
const flags = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const
const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const maxFrame = 16_384
/** Bytes of responses after which the window of the connection is opened again. */
const creditBytes = 16 * 1024 * 1024

interface FrameParts {
  readonly flag?: number
  readonly stream?: number
  readonly payload?: Uint8Array
}

export function frame(type: number, { flag = 0, stream = 0, payload = new Uint8Array(0) }: FrameParts = {}): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flag
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Opens the window of the connection. */
function windowUpdate(bytes: number): Buffer {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(bytes)
  return frame(frameTypes.windowUpdate, { payload })
}

/** Literal fields without indexing and without Huffman codes. */
export function headerBlock(headers: readonly RawHeader[]): Buffer {
  return Buffer.concat(
    headers.flatMap(([name, value]) => {
      const text = Buffer.from(name, 'latin1')
      return [literal, length(text.length), text, length(value.length), Buffer.from(value)]
    }),
  )
}

const literal = Buffer.from([0])

/** An HPACK integer with a prefix of seven bits. */
function length(value: number): Buffer {
  if (value < 127) return Buffer.from([value])
  const bytes = [127]
  let rest = value - 127
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  bytes.push(rest)
  return Buffer.from(bytes)
}

/** HEADERS, and CONTINUATION for the rest. */
export function headerFrames(stream: number, block: Buffer, endStream: boolean): Buffer {
  const frames: Buffer[] = []
  for (let at = 0; at === 0 || at < block.length; at += maxFrame) {
    const payload = block.subarray(at, at + maxFrame)
    const last = at + maxFrame >= block.length ? flags.endHeaders : 0
    frames.push(
      at === 0
        ? frame(frameTypes.headers, { flag: last | (endStream ? flags.endStream : 0), stream, payload })
        : frame(frameTypes.continuation, { flag: last, stream, payload }),
    )
  }
  return Buffer.concat(frames)
}

const ascii = (text: string): Uint8Array => Buffer.from(text, 'latin1')

export function pseudoHeaders(method: string, path: string): RawHeader[] {
  return [
    [':method', ascii(method)],
    [':scheme', ascii('https')],
    [':path', ascii(path)],
    [':authority', ascii('x')],
  ]
}

interface Waiting {
  status: number
  readonly parts: Buffer[]
  readonly settle: (answer: RawAnswer) => void
}

/** One connection with concurrent requests. */
export class RawHttp2 {
  readonly #socket: TLSSocket
  readonly #waiting = new Map<number, Waiting>()
  #rest: Buffer = Buffer.alloc(0)
  #next = 1
  #received = 0
  #closed = false
  #endCode: number | undefined
  #onEnd = () => {}

  static async open(options: RawOptions): Promise<RawHttp2> {
    return new RawHttp2(await openTls(options, 'h2'))
  }

  private constructor(socket: TLSSocket) {
    this.#socket = socket
    socket.on('data', (part: Buffer) => this.#read(part))
    socket.on('error', () => this.#end())
    socket.on('close', () => this.#end())
    // No dynamic table, so that a status can be decoded without one; windows that no response fills.
    const settings = Buffer.from([0, 1, 0, 0, 0, 0, 0, 4, 0x3f, 0xff, 0xff, 0xff])
    socket.write(
      Buffer.concat([Buffer.from(preface), frame(frameTypes.settings, { payload: settings }), windowUpdate(0x3fffffff)]),
    )
  }

  /** Whether requests can still be sent. */
  get usable(): boolean {
    return !this.#closed && this.#next < 0x3fffffff
  }

  /** Raw bytes. */
  write(bytes: Uint8Array): void {
    if (!this.#closed) this.#socket.write(bytes)
  }

  nextStream(): number {
    const stream = this.#next
    this.#next += 2
    return stream
  }

  send({ method, target, headers, body = new Uint8Array(0) }: RawRequest, timeoutMs = 10_000): Promise<RawAnswer> {
    const stream = this.nextStream()
    const answer = this.answerOf(stream, timeoutMs)
    this.write(headerFrames(stream, headerBlock([...pseudoHeaders(method, target), ...headers]), body.length === 0))
    for (let at = 0; at < body.length; at += maxFrame) {
      const payload = body.subarray(at, at + maxFrame)
      this.write(frame(frameTypes.data, { flag: at + maxFrame >= body.length ? flags.endStream : 0, stream, payload }))
    }
    return answer
  }

  /** The response of a stream whose frames are written raw. */
  answerOf(stream: number, timeoutMs: number): Promise<RawAnswer> {
    return new Promise((resolve) => {
      const late = setTimeout(() => this.#settle(stream, { status: 0, text: 'no answer in time' }), timeoutMs)
      const settle = (answer: RawAnswer) => {
        clearTimeout(late)
        resolve(answer)
      }
      if (this.#closed) return settle({ status: 0, text: 'closed' })
      this.#waiting.set(stream, { status: 0, parts: [], settle })
    })
  }

  /** The code of GOAWAY; undefined when none comes in time. */
  ending(withinMs: number): Promise<number | undefined> {
    return new Promise((resolve) => {
      const late = setTimeout(() => resolve(undefined), withinMs)
      this.#onEnd = () => {
        if (this.#endCode === undefined) return
        clearTimeout(late)
        resolve(this.#endCode)
      }
      this.#onEnd()
    })
  }

  close(): void {
    this.#socket.destroy()
    this.#end()
  }

  #read(part: Buffer): void {
    let bytes = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part])
    while (bytes.length >= 9) {
      const size = 9 + bytes.readUIntBE(0, 3)
      if (bytes.length < size) break
      this.#frame(bytes[3] ?? 0, {
        flag: bytes[4] ?? 0,
        stream: bytes.readUInt32BE(5) & 0x7fffffff,
        payload: bytes.subarray(9, size),
      })
      bytes = bytes.subarray(size)
    }
    this.#rest = bytes
  }

  #frame(type: number, { flag, stream, payload }: { flag: number; stream: number; payload: Buffer }): void {
    if (type === frameTypes.settings && (flag & flags.ack) === 0)
      this.#socket.write(frame(frameTypes.settings, { flag: flags.ack }))
    if (type === frameTypes.ping && (flag & flags.ack) === 0)
      this.#socket.write(frame(frameTypes.ping, { flag: flags.ack, payload }))
    if (type === frameTypes.goaway) {
      this.#closed = true
      this.#endCode ??= payload.readUInt32BE(4)
      this.#onEnd()
    }
    if (type === frameTypes.data) this.#credit(payload.length)
    const waiting = this.#waiting.get(stream)
    if (waiting === undefined) return
    if (type === frameTypes.headers && waiting.status < 200) waiting.status = statusOf(withoutPriority(payload, flag))
    if (type === frameTypes.data) waiting.parts.push(Buffer.from(payload))
    if (type === frameTypes.rstStream) this.#settle(stream, { status: waiting.status, text: 'reset' })
    else if ((type === frameTypes.headers || type === frameTypes.data) && (flag & flags.endStream) !== 0)
      this.#settle(stream, { status: waiting.status, text: Buffer.concat(waiting.parts).toString('utf8') })
  }

  #credit(bytes: number): void {
    this.#received += bytes
    if (this.#received < creditBytes) return
    this.#socket.write(windowUpdate(this.#received))
    this.#received = 0
  }

  #settle(stream: number, answer: RawAnswer): void {
    const waiting = this.#waiting.get(stream)
    this.#waiting.delete(stream)
    waiting?.settle(answer)
  }

  #end(): void {
    this.#closed = true
    for (const stream of [...this.#waiting.keys()]) this.#settle(stream, { status: 0, text: 'closed' })
  }
}

function withoutPriority(payload: Buffer, flag: number): Buffer {
  return payload.subarray(((flag & flags.padded) === 0 ? 0 : 1) + ((flag & flags.priority) === 0 ? 0 : 5))
}

const indexedStatus: Readonly<Record<number, number>> = { 8: 200, 9: 204, 10: 206, 11: 304, 12: 400, 13: 404, 14: 500 }

/** `:status` is the first field of every response. */
function statusOf(block: Buffer): number {
  let at = 0
  while (((block[at] ?? 0) & 0xe0) === 0x20) at++
  const first = block[at] ?? 0
  if ((first & 0x80) !== 0) return indexedStatus[first & 0x7f] ?? 0
  // A literal whose name is one of the `:status` entries of the static table.
  const size = (block[at + 1] ?? 0) & 0x7f
  const value = block.subarray(at + 2, at + 2 + size)
  return Number(((block[at + 1] ?? 0) & 0x80) === 0 ? value.toString('latin1') : huffmanDigits(value))
}

/** Digits in the HPACK Huffman code: 0 to 2 in five bits, 3 to 9 in six. */
function huffmanDigits(bytes: Uint8Array): string {
  let bits = ''
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0')
  let text = ''
  for (let at = 0; at + 5 <= bits.length && text.length < 3; ) {
    const five = Number.parseInt(bits.slice(at, at + 5), 2)
    if (five <= 2) {
      text += five
      at += 5
    } else {
      text += Number.parseInt(bits.slice(at, at + 6), 2) - 0b011001 + 3
      at += 6
    }
  }
  return text
}
