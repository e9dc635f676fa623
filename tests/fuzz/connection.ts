import type { TLSSocket } from 'node:tls'
import { openTls, type RawAnswer, type RawHeader } from '../attacks/harness/http1.ts'

/** A kept HTTP/1.1 connection that sends raw bytes and reads responses in order. */
export class Connection {
  readonly #socket: TLSSocket
  #bytes: Buffer = Buffer.alloc(0)
  #wanted: { readonly head: boolean; settle(answer: RawAnswer): void } | undefined
  #ended = false

  static async open(port: number): Promise<Connection> {
    return new Connection(await openTls({ port }, 'http/1.1'))
  }

  private constructor(socket: TLSSocket) {
    this.#socket = socket
    socket.on('data', (part: Buffer) => {
      this.#bytes = this.#bytes.length === 0 ? part : Buffer.concat([this.#bytes, part])
      this.#take()
    })
    socket.on('error', () => this.#end())
    socket.on('close', () => this.#end())
  }

  get usable(): boolean {
    return !this.#ended
  }

  /** One request at a time. */
  send({
    method,
    target,
    headers,
    body,
  }: {
    method: string
    target: string
    headers: readonly RawHeader[]
    body: Uint8Array
  }): Promise<RawAnswer> {
    const head = `${method} ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n`
    const lines = headers.flatMap(([name, value]) => [Buffer.from(`${name}: `), value, newLine])
    return new Promise((resolve) => {
      const late = setTimeout(() => this.close('no answer in time'), 10_000)
      const settle = (answer: RawAnswer) => {
        clearTimeout(late)
        resolve(answer)
      }
      if (this.#ended) return settle({ status: 0, text: 'closed' })
      this.#wanted = { head: method === 'HEAD', settle }
      this.#socket.write(Buffer.concat([Buffer.from(head), ...lines, newLine, body]))
    })
  }

  close(why = 'closed'): void {
    this.#socket.destroy()
    this.#end(why)
  }

  #take(): void {
    const read = this.#wanted === undefined ? undefined : readAnswer(this.#bytes, this.#wanted.head)
    if (read === undefined) return
    this.#bytes = this.#bytes.subarray(read.size)
    if (read.closes) this.#ended = true
    this.#settle({ status: read.status, text: read.text })
    if (read.closes) this.#socket.destroy()
  }

  #settle(answer: RawAnswer): void {
    const wanted = this.#wanted
    this.#wanted = undefined
    wanted?.settle(answer)
  }

  #end(why = 'closed'): void {
    this.#ended = true
    this.#settle({ status: 0, text: why })
  }
}

const newLine = Buffer.from('\r\n')

interface Read extends RawAnswer {
  /** The size of the complete response. */
  readonly size: number
  readonly closes: boolean
}

/** The first response in `bytes`; undefined while it is incomplete. */
function readAnswer(bytes: Buffer, toHead: boolean): Read | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = bytes.toString('latin1', 0, end)
  const status = Number(head.slice(9, 12))
  const start = end + 4
  if (status < 200) {
    const next = readAnswer(bytes.subarray(start), toHead)
    return next === undefined ? undefined : { ...next, size: next.size + start }
  }
  const closes = /^connection: close/im.test(head)
  const length = /^content-length: (\d+)/im.exec(head)?.[1]
  const made = (text: string, size: number): Read => ({ status, text, size, closes })
  if (toHead || status === 204 || status === 304) return made('', start)
  if (length !== undefined) {
    const size = start + Number(length)
    return bytes.length < size ? undefined : made(bytes.toString('utf8', start, size), size)
  }
  if (!/^transfer-encoding: chunked/im.test(head)) return made('', start)
  return readChunks(bytes, start, made)
}

function readChunks(bytes: Buffer, start: number, made: (text: string, size: number) => Read): Read | undefined {
  let text = ''
  for (let at = start; ; ) {
    const line = bytes.indexOf('\r\n', at)
    if (line < 0) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    const next = line + 2 + size + 2
    if (bytes.length < next) return undefined
    if (size === 0) return made(text, next)
    text += bytes.toString('utf8', line + 2, line + 2 + size)
    at = next
  }
}
