import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { createGunzip } from 'node:zlib'
import type { Transport, TransportRequest, TransportResponse } from '@krmkit/protocol'
import { type ClientOptions, createClient } from './client.ts'
import { ClientError } from './client-error.ts'
import type { CredentialSource, Credentials } from './credentials/credential-source.ts'
import type { Client } from './interfaces.ts'

/** How to reach a server and who to be there. `KubeconfigConnection` of `loadKubeconfig` is one. */
export interface ConnectionOptions {
  /** `https://host:port`, with a path when the server lives under one. */
  readonly server: string
  /** PEM of the authorities to trust. Default: those of the platform. */
  readonly ca?: string
  /** PEM of a client certificate and its key. */
  readonly certificate?: string
  readonly key?: string
  /** A bearer token, or how to get the current one. */
  readonly token?: string | (() => string | Promise<string>)
  /** A name and password, for what stands in front of a server: servers themselves take none. */
  readonly basic?: { readonly username: string; readonly password: string }
  /** Credentials that change: what they hold comes before `token`, `certificate` and `key`. */
  readonly credentials?: CredentialSource
  /** Name that the server's certificate must have, when it is not that of the URL. */
  readonly tlsServerName?: string
  /** Believe any certificate. Never outside of tests. */
  readonly insecureSkipTlsVerify?: boolean
}

export type RemoteOptions = ClientOptions & ConnectionOptions

/** A client of a server elsewhere, over HTTPS with connections kept alive. */
export function remoteClient(options: RemoteOptions): Client {
  return createClient(remoteTransport(options), options)
}

/** @throws ClientError `InvalidCall` when `server` is no URL of HTTP or HTTPS. */
export function remoteTransport(options: ConnectionOptions): Transport {
  const url = serverUrl(options.server)
  const secure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  const prefix = url.pathname.replace(/\/$/, '')
  const start = secure ? httpsRequest : httpRequest
  const connections = new Connections(options, url)
  const { credentials: source } = options
  let closed = false

  const attempt = async (request: TransportRequest, credentials: Credentials): Promise<TransportResponse> => {
    const token = credentials.token ?? (typeof options.token === 'function' ? await options.token() : options.token)
    const target = `${prefix}${request.path}${request.query === '' ? '' : `?${request.query}`}`
    const agent = connections.agentFor(credentials)
    const headers = headersOf(request, authorizationOf(token, options.basic))
    const how: RequestOptions = { host, port, agent, method: request.method, path: target, headers }
    for (let again = false; ; again = true) {
      const one = exchange(start(how), { request, open: connections.open })
      try {
        return await one.answer
      } catch (error) {
        // The server closed a kept connection just as it was used again: nothing was lost, ask once more.
        if (again || request.method !== 'GET' || !one.wasStale(error))
          throw unreachable(error, { request, server: options.server })
      }
    }
  }

  return {
    async send(request) {
      if (closed) throw new ClientError({ code: 'Closed', message: 'the client was closed' })
      request.signal?.throwIfAborted()
      if (source === undefined || request.headers.authorization !== undefined) return attempt(request, {})
      const credentials = await source.get()
      const response = await attempt(request, credentials)
      // Refused before anything was done: with other credentials the same request may be sent again.
      if (response.status !== 401 || !(await source.refused(credentials))) return response
      for await (const _ of response.body) {
        // Read to the end, so that the connection can be used again.
      }
      return attempt(request, await source.get())
    },
    async close() {
      closed = true
      source?.close?.()
      connections.close()
    },
  }
}

/** Connections by one client certificate; when it changes, those made with the former one are closed, busy or not. */
class Connections {
  readonly open = new Set<ClientRequest>()
  readonly #options: ConnectionOptions
  readonly #url: URL
  #agent: HttpAgent
  #shown: Credentials

  constructor(options: ConnectionOptions, url: URL) {
    this.#options = options
    this.#url = url
    this.#shown = pairOf({}, options)
    this.#agent = this.#agentWith(this.#shown)
  }

  agentFor(credentials: Credentials): HttpAgent {
    const wanted = pairOf(credentials, this.#options)
    if (wanted.certificate !== this.#shown.certificate || wanted.key !== this.#shown.key) {
      this.close()
      this.#shown = wanted
      this.#agent = this.#agentWith(wanted)
    }
    return this.#agent
  }

  close(): void {
    for (const request of this.open) request.destroy()
    this.#agent.destroy()
  }

  #agentWith(pair: Credentials): HttpAgent {
    const keepAlive = { keepAlive: true, maxFreeSockets: 64, noDelay: true }
    if (this.#url.protocol !== 'https:') return new HttpAgent(keepAlive)
    return new HttpsAgent({ ...keepAlive, ...tlsOf({ ...this.#options, ...pair }, this.#url) })
  }
}

function pairOf(credentials: Credentials, { certificate, key }: ConnectionOptions): Credentials {
  if (credentials.certificate !== undefined && credentials.key !== undefined)
    return { certificate: credentials.certificate, key: credentials.key }
  return { ...(certificate === undefined ? {} : { certificate }), ...(key === undefined ? {} : { key }) }
}

function authorizationOf(token: string | undefined, basic: ConnectionOptions['basic']): string | undefined {
  if (token !== undefined && token !== '') return `Bearer ${token}`
  return basic && `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`
}

function serverUrl(server: string): URL {
  const url = URL.canParse(server) ? new URL(server) : undefined
  if (url !== undefined && (url.protocol === 'https:' || url.protocol === 'http:')) return url
  throw new ClientError({ code: 'InvalidCall', message: `${JSON.stringify(server)} is no URL of a server` })
}

function tlsOf(options: ConnectionOptions, url: URL) {
  const name = options.tlsServerName ?? url.hostname.replace(/^\[|\]$/g, '')
  return {
    ...(options.ca === undefined ? {} : { ca: options.ca }),
    ...(options.certificate === undefined ? {} : { cert: options.certificate }),
    ...(options.key === undefined ? {} : { key: options.key }),
    ...(isIP(name) === 0 ? { servername: name } : {}),
    // Authorities may hold the server's own certificate, which is trusted as it is.
    allowPartialTrustChain: true,
    rejectUnauthorized: options.insecureSkipTlsVerify !== true,
    minVersion: 'TLSv1.2' as const,
  }
}

function headersOf(request: TransportRequest, authorization: string | undefined): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ...(request.headers as OutgoingHttpHeaders) }
  if (authorization !== undefined) headers.authorization ??= authorization
  if (request.method === 'GET' && headers['accept-encoding'] === undefined && !isWatch(request.query))
    headers['accept-encoding'] = 'gzip'
  if (request.body !== undefined) headers['content-length'] = request.body.length
  return headers
}

function isWatch(query: string): boolean {
  return /(?:^|&)(?:watch|follow)=/.test(query)
}

function exchange(outgoing: ClientRequest, context: { request: TransportRequest; open: Set<ClientRequest> }) {
  const { request, open } = context
  open.add(outgoing)
  const leave = () => outgoing.destroy(abortReason(request.signal))
  request.signal?.addEventListener('abort', leave, { once: true })
  outgoing.once('close', () => {
    open.delete(outgoing)
    request.signal?.removeEventListener('abort', leave)
  })
  const answer = new Promise<TransportResponse>((resolve, reject) => {
    outgoing.on('error', reject)
    outgoing.once('response', (incoming) => {
      // An error after the answer began belongs to whoever reads the body.
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: bodyOf(incoming, request) })
    })
    outgoing.end(request.body)
  })
  const wasStale = (error: unknown) => outgoing.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET'
  return { answer, wasStale }
}

async function* bodyOf(incoming: IncomingMessage, request: TransportRequest): AsyncGenerator<Uint8Array, void, undefined> {
  const packed = incoming.headers['content-encoding'] === 'gzip'
  const source = packed ? incoming.pipe(createGunzip()) : incoming
  if (packed) incoming.once('error', (error) => source.destroy(error))
  try {
    yield* source as AsyncIterable<Uint8Array>
  } catch (error) {
    request.signal?.throwIfAborted()
    throw new ClientError({ code: 'Unreachable', message: 'the connection broke in the middle of an answer', cause: error })
  } finally {
    if (!incoming.complete) incoming.destroy()
  }
}

function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason
  return reason instanceof Error ? reason : new Error(String(reason))
}

function unreachable(error: unknown, context: { request: TransportRequest; server: string }): unknown {
  if (context.request.signal?.aborted === true) return context.request.signal.reason
  const why = error instanceof Error ? error.message : String(error)
  return new ClientError({ code: 'Unreachable', message: `cannot reach ${context.server}: ${why}`, cause: error })
}
