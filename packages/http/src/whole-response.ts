import { type ServerResponse, STATUS_CODES } from 'node:http'

/** Larger bodies are written beside their head, without a copy. */
const maxBodyBytes = 16 * 1024

export interface WholeResponse {
  readonly status: number
  /** Names and values in turn, in the encoding of node, with a content-length. */
  readonly head: readonly string[]
  readonly body: Uint8Array
  /** What the Keep-Alive header announces. */
  readonly keepAliveMs: number
  /** Called when the response has been written. */
  readonly onWritten: () => void
}

/**
 * Writes head and body of a response as one buffer. `ServerResponse.end` makes three writes of them, which the socket joins again,
 * and validates headers that the adapter has made.
 *
 * The head is that of `ServerResponse.writeHead`. Node continues with the connection after `finish`, as after each response.
 *
 * @returns false, without a write, where only `ServerResponse` can write the response: the connection closes after it, an earlier
 * response still owns the socket, a header has a meaning for node, or the body is large.
 */
export function writeWhole(response: ServerResponse, { status, head, body, keepAliveMs, onWritten }: WholeResponse): boolean {
  const { socket } = response
  if (socket === null || !response.shouldKeepAlive || body.length > maxBodyBytes) return false
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`
  for (let i = 0; i < head.length; i += 2) {
    const name = head[i] as string
    if (nodeHeaders.has(name)) return false
    text += `${name}: ${head[i + 1]}\r\n`
  }
  text += `Date: ${dateText()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n\r\n`
  const whole = Buffer.allocUnsafe(text.length + body.length)
  whole.write(text, 0, 'latin1')
  whole.set(body, text.length)
  socket.write(whole, (error) => {
    // An error closes the connection, and the response with it.
    if (error !== undefined && error !== null) return
    onWritten()
    response.emit('finish')
  })
  return true
}

/** Headers that change how node frames the response or goes on with the connection. */
const nodeHeaders: ReadonlySet<string> = new Set([
  ...['connection', 'content-disposition', 'date', 'expect', 'keep-alive', 'trailer', 'transfer-encoding'],
])

let dateSecond = 0
let dateOfSecond = ''

/** The value of the Date header, which changes once a second. */
function dateText(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    dateOfSecond = new Date(second * 1000).toUTCString()
  }
  return dateOfSecond
}
