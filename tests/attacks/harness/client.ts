import { Agent, request } from 'node:https'

/** Well-formed requests over kept connections, with a bound on the time that an answer may take. */

export interface Wire {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly token?: string
}

export interface WireAnswer {
  /** 0: no answer. */
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
      // The server may have ended a kept connection while the request was on its way; clients send it again on another.
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
      // The server may refuse a body and end the connection while the rest is written: node has no listener on it any more.
      sent.once('socket', (socket) => {
        if (!guarded.has(socket)) socket.on('error', () => undefined)
        guarded.add(socket)
      })
      // A connection may fail more than once; the first settles the answer.
      sent.on('error', (error) => settle(`${error}`))
      sent.end(wire.body)
    })
  }
}
