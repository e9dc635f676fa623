import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { CertificationServer } from './interfaces.ts'

export interface NaiveRequest {
  readonly server: CertificationServer
  readonly method?: string
  readonly path: string
  readonly body?: unknown
  readonly contentType?: string
  /** Default: read from the file. */
  readonly token?: string | undefined
  readonly signal?: AbortSignal
}

/** A Status response of the server, as an error. */
export class StatusError extends Error {
  readonly code: number
  readonly retryAfterMs: number | undefined
  /** The continue token with which an expired list can continue from the current state. */
  readonly freshToken: string | undefined

  constructor(
    code: number,
    options: { readonly retryAfter?: string | undefined; readonly freshToken?: string | undefined } = {},
  ) {
    super(`status ${code}`)
    this.code = code
    this.retryAfterMs = options.retryAfter === undefined ? undefined : Number(options.retryAfter) * 1000
    this.freshToken = options.freshToken
  }
}

/** Sends a request with the built-in modules of Node. */
export function send(options: NaiveRequest): Promise<IncomingMessage> {
  const { server, method = 'GET', path, body, contentType = 'application/json', signal } = options
  const { hostname, port } = new URL(server.url)
  const token = options.token ?? readFileSync(server.tokenFile, 'utf8')
  const text = body === undefined ? undefined : JSON.stringify(body)
  const length = text === undefined ? {} : { 'content-type': contentType, 'content-length': Buffer.byteLength(text) }
  const headers = { authorization: `Bearer ${token}`, ...length }
  return new Promise((resolve, reject) => {
    const target = { hostname, port, method, path, ca: server.authority, headers, ...(signal === undefined ? {} : { signal }) }
    const request = httpsRequest(target, resolve)
    request.on('error', reject)
    request.end(text)
  })
}

/** Reads the object of a response. @throws StatusError */
export async function readObject<T>(response: IncomingMessage): Promise<T> {
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part as Buffer)
  const { statusCode = 0 } = response
  const object = JSON.parse(Buffer.concat(parts).toString()) as T & { readonly metadata?: { readonly continue?: string } }
  if (statusCode < 400) return object
  throw new StatusError(statusCode, { retryAfter: response.headers['retry-after'], freshToken: object.metadata?.continue })
}
