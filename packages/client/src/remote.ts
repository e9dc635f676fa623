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
import { abortReason } from './backoff.ts'
import { type ClientOptions, createClient } from './client.ts'
import { ClientError } from './client-error.ts'
import type { CredentialSource, Credentials } from './credentials/credential-source.ts'
import type { Client } from './interfaces.ts'
import { drain } from './response.ts'

/** The address of a server and the credentials for it. @see loadKubeconfig */
export interface ConnectionOptions {
  /** `https://host:port`, with a path if the server has one. */
  readonly server: string
  /** PEM of the trusted authorities. Default: those of the platform. */
  readonly ca?: string
  /** PEM of the client certificate; requires `key`. */
  readonly certificate?: string
  /** PEM of the private key of `certificate`. */
  readonly key?: string
  /** A bearer token, or a function that returns the current one. */
  readonly token?: string | (() => string | Promise<string>)
  /** Basic authentication, for a proxy in front of the server: API servers do not support it. */
  readonly basic?: { readonly username: string; readonly password: string }
  /** Renewable credentials, which take precedence over `token`, `certificate` and `key`. */
  readonly credentials?: CredentialSource
  /** Name that the server certificate must carry, when it differs from the host of the URL. */
  readonly tlsServerName?: string
  /** Skip verification of the server certificate. For tests only. */
  readonly insecureSkipTlsVerify?: boolean
}

export type RemoteOptions = ClientOptions & ConnectionOptions

/**
 * Creates a client of a remote server, over HTTPS with kept connections.
 *
 * @throws ClientError `InvalidRequest` for an invalid `server` URL
 * @example
 * import { Pod } from '@krmkit/kinds/core/v1'
 * import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
 * const client = createRemoteClient(await loadKubeconfig())
 * const pods = await client.list(Pod, { namespace: 'shop' })
 */
export function createRemoteClient(options: RemoteOptions): Client {
  return createClient(createRemoteTransport(options), options)
}

/**
 * Creates the transport of `createRemoteClient`.
 *
 * @throws ClientError `InvalidRequest` for an invalid `server` URL
 * @example
 * import { createClient, createRemoteTransport, loadKubeconfig } from '@krmkit/client'
 * const transport = createRemoteTransport(await loadKubeconfig())
 * const client = createClient(transport, { namespace: 'shop' })
 */
export function createRemoteTransport(options: ConnectionOptions): Transport {
  const url = serverUrl(options.server)
  const secure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  const prefix = url.pathname.replace(/\/$/, '')
  const sendRequest = secure ? httpsRequest : httpRequest
  const connections = new Connections(options, url)
  const { credentials: source } = options
  let closed = false

  const attempt = async (request: TransportRequest, credentials: Credentials): Promise<TransportResponse> => {
    const token = credentials.token ?? (typeof options.token === 'function' ? await options.token() : options.token)
    const target = `${prefix}${request.path}${request.query === '' ? '' : `?${request.query}`}`
    const agent = connections.agentFor(credentials)
    const headers = headersOf(request, authorizationOf(token, options.basic))
    const requestOptions: RequestOptions = { host, port, agent, method: request.method, path: target, headers }
    for (let isRetry = false; ; isRetry = true) {
      const exchange = startExchange(sendRequest(requestOptions), { request, open: connections.open })
      try {
        return await exchange.response
      } catch (error) {
        // The server closed a kept connection while it was reused: retry once.
        if (isRetry || request.method !== 'GET' || !exchange.isStale(error))
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
      // A 401 has no effect on the server, so the request can be repeated with renewed credentials.
      if (response.status !== 401 || !(await source.renew(credentials))) return response
      await drain(response.body)
      return attempt(request, await source.get())
    },
    async close() {
      closed = true
      source?.close?.()
      connections.close()
    },
  }
}

/** Connections with one client certificate. A new certificate closes all connections made with the previous one. */
class Connections {
  readonly open = new Set<ClientRequest>()
  readonly #options: ConnectionOptions
  readonly #url: URL
  #agent: HttpAgent
  #keyPair: Credentials

  constructor(options: ConnectionOptions, url: URL) {
    this.#options = options
    this.#url = url
    this.#keyPair = keyPairOf({}, options)
    this.#agent = this.#createAgent(this.#keyPair)
  }

  agentFor(credentials: Credentials): HttpAgent {
    const keyPair = keyPairOf(credentials, this.#options)
    if (keyPair.certificate !== this.#keyPair.certificate || keyPair.key !== this.#keyPair.key) {
      this.close()
      this.#keyPair = keyPair
      this.#agent = this.#createAgent(keyPair)
    }
    return this.#agent
  }

  close(): void {
    for (const request of this.open) request.destroy()
    this.#agent.destroy()
  }

  #createAgent(keyPair: Credentials): HttpAgent {
    const keepAlive = { keepAlive: true, maxFreeSockets: 64, noDelay: true }
    if (this.#url.protocol !== 'https:') return new HttpAgent(keepAlive)
    return new HttpsAgent({ ...keepAlive, ...tlsOf({ ...this.#options, ...keyPair }, this.#url) })
  }
}

function keyPairOf(credentials: Credentials, { certificate, key }: ConnectionOptions): Credentials {
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
  throw new ClientError({ code: 'InvalidRequest', message: `${JSON.stringify(server)} is not an HTTP or HTTPS URL` })
}

function tlsOf(options: ConnectionOptions, url: URL) {
  const name = options.tlsServerName ?? url.hostname.replace(/^\[|\]$/g, '')
  return {
    ...(options.ca === undefined ? {} : { ca: options.ca }),
    ...(options.certificate === undefined ? {} : { cert: options.certificate }),
    ...(options.key === undefined ? {} : { key: options.key }),
    ...(isIP(name) === 0 ? { servername: name } : {}),
    // The bundle may hold the certificate of the server itself.
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

function startExchange(outgoing: ClientRequest, context: { request: TransportRequest; open: Set<ClientRequest> }) {
  const { request, open } = context
  open.add(outgoing)
  const abort = () => outgoing.destroy(abortReason(request.signal))
  request.signal?.addEventListener('abort', abort, { once: true })
  outgoing.once('close', () => {
    open.delete(outgoing)
    request.signal?.removeEventListener('abort', abort)
  })
  const response = new Promise<TransportResponse>((resolve, reject) => {
    outgoing.on('error', reject)
    outgoing.once('response', (incoming) => {
      // Later errors are reported to the reader of the body.
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: bodyOf(incoming, request) })
    })
    outgoing.end(request.body)
  })
  const isStale = (error: unknown) => outgoing.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET'
  return { response, isStale }
}

async function* bodyOf(incoming: IncomingMessage, request: TransportRequest): AsyncGenerator<Uint8Array, void, undefined> {
  const isCompressed = incoming.headers['content-encoding'] === 'gzip'
  const source = isCompressed ? incoming.pipe(createGunzip()) : incoming
  if (isCompressed) incoming.once('error', (error) => source.destroy(error))
  try {
    yield* source as AsyncIterable<Uint8Array>
  } catch (error) {
    request.signal?.throwIfAborted()
    throw new ClientError({ code: 'Unreachable', message: 'the connection was interrupted during a response', cause: error })
  } finally {
    if (!incoming.complete) incoming.destroy()
  }
}

function unreachable(error: unknown, context: { request: TransportRequest; server: string }): unknown {
  if (context.request.signal?.aborted === true) return context.request.signal.reason
  const why = error instanceof Error ? error.message : String(error)
  return new ClientError({ code: 'Unreachable', message: `cannot reach ${context.server}: ${why}`, cause: error })
}
