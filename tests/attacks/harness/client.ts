import { Agent, request } from 'node:https'

/** Well-formed requests over kept connections, with a response timeout. */

export interface Wire {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly token?: string
}

export interface WireAnswer {
  /** 0: no response. */
  readonly status: number
  /** The first 4096 characters. */
  readonly text: string
  readonly bytes: number
  readonly ms: number
}

export interface WireClient {
  send(wire: Wire): Promise<WireAnswer>
  close(): void
}

const keptText = 4096

export function wireClient(url: string, { token, timeoutMs = 60_000 }: { token: string; timeoutMs?: number }): WireClient {
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false })
  const guarded = new WeakSet<object>()
  return {
    close: () => agent.destroy(),
    async send(wire) {
      const answer = await sendOnce(wire)
      // The server may close a kept connection while a request is being sent; clients retry on another one.
      return answer.status === 0 && answer.onKept ? sendOnce(wire) : answer
    },
  }
  function sendOnce(wire: Wire): Promise<WireAnswer & { readonly onKept: boolean }> {
    return new Promise((resolve) => {
      const from = performance.now()
      let status = 0
      let bytes = 0
      let text = ''
      const headers = {
        authorization: `Bearer ${wire.token ?? token}`,
        ...(wire.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(wire.body)) }),
        ...wire.headers,
      }
      const sent = request(`${url}${wire.target}`, { method: wire.method, headers, agent, timeout: timeoutMs }, (answer) => {
        status = answer.statusCode ?? 0
        answer.on('data', (part: Buffer) => {
          bytes += part.length
          if (text.length < keptText) text += part.toString('utf8', 0, keptText)
        })
        answer.once('end', () => settle())
        answer.on('error', (error) => settle(`${error}`))
      })
      const settle = (why = text) =>
        resolve({ status, text: why, bytes, ms: performance.now() - from, onKept: sent.reusedSocket && !late })
      let late = false
      sent.once('timeout', () => {
        late = true
        sent.destroy(new Error(`no answer in ${timeoutMs} ms`))
      })
      // The server may reject a body and close the connection while the rest is written, when Node has no listener anymore.
      sent.once('socket', (socket) => {
        if (!guarded.has(socket)) socket.on('error', () => undefined)
        guarded.add(socket)
      })
      // A connection may fail more than once; the first failure settles the response.
      sent.on('error', (error) => settle(`${error}`))
      sent.end(wire.body)
    })
  }
}
