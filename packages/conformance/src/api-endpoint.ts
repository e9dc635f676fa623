/** Requests to one server, and watches of it. */
import { Agent, request } from 'node:https'

export interface ApiObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly resourceVersion: string
    readonly uid: string
  }
}

export interface Reply {
  readonly status: number
  /** The body as sent. */
  readonly text: string
}

export class ApiEndpoint {
  readonly name: string
  readonly #port: number
  readonly #token: string
  readonly #agent = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 64 })

  constructor(name: string, port: number, token: string) {
    this.name = name
    this.#port = port
    this.#token = token
  }

  send(method: string, path: string, body?: object, contentType = 'application/json'): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const sending = request({ ...this.#options(path), method }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
      })
      sending.on('error', reject)
      sending.setTimeout(60_000, () => sending.destroy(new Error(`${method} ${path} took too long`)))
      if (body === undefined) sending.end()
      else {
        const text = JSON.stringify(body)
        sending.setHeader('content-type', contentType)
        // Node sends a DELETE without one otherwise.
        sending.setHeader('content-length', Buffer.byteLength(text))
        sending.end(text)
      }
    })
  }

  /** Collects the lines of a watch until it is closed. */
  watch(path: string): { readonly lines: string[]; close(): void } {
    const lines: string[] = []
    let rest = ''
    const sending = request(this.#options(`${path}${path.includes('?') ? '&' : '?'}watch=true`), (response) => {
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        const parts = (rest + chunk).split('\n')
        rest = parts.pop() ?? ''
        lines.push(...parts)
      })
      response.on('error', () => undefined)
    })
    sending.on('error', () => undefined)
    sending.end()
    return { lines, close: () => sending.destroy() }
  }

  close(): void {
    this.#agent.destroy()
  }

  #options(path: string) {
    return {
      host: '127.0.0.1',
      port: this.#port,
      path,
      agent: this.#agent,
      headers: { authorization: `Bearer ${this.#token}`, 'user-agent': 'side-by-side' },
    }
  }
}
