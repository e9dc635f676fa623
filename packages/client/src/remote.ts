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
import type { OptionKinds } from '@krmkit/base/arguments'
import type { Transport, TransportRequest, TransportResponse } from '@krmkit/protocol'
import { abortReason } from './backoff.ts'
import { clientOver } from './client.ts'
import { ClientError } from './client-error.ts'
import { type ClientOptions, checkClientOptions } from './client-options.ts'
import type { CredentialSource, Credentials } from './credentials/credential-source.ts'
import type { Client } from './interfaces.ts'
import { createProxyAgent, forwardsRequests } from './proxy/proxy-agent.ts'
import { type ProxyAddress, parseProxyUrl } from './proxy/proxy-url.ts'
import { proxyAuthorization } from './proxy/tunnel.ts'
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
  /** Basic authentication, for a proxy in front of the server. API servers do not support it. */
  readonly basic?: { readonly username: string; readonly password: string }
  /** Renewable credentials, which take precedence over `token`, `certificate` and `key`. */
  readonly credentials?: CredentialSource
  /** Name that the server certificate must carry, when it differs from the host of the URL. */
  readonly tlsServerName?: string
  /** Skip verification of the server certificate. For tests only. */
  readonly insecureSkipTlsVerify?: boolean
  /**
   * Proxy that leads to the server: `http://host:port`, `https://…` (CONNECT) or `socks5://…` (which resolves names), with
   * `user:password@` if the proxy requires them. Environment variables are not read.
   */
  readonly proxyUrl?: string
}

export type RemoteOptions = ClientOptions & ConnectionOptions

/**
 * Creates a client of a remote server, over HTTPS with kept-alive connections.
 *
 * @throws ClientError `InvalidRequest` for invalid options, such as `server` and `proxyUrl`, `Unsupported` for a proxy of another protocol
 * @example
 * import { Pod } from '@krmkit/kinds/core/v1'
 * import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
 * const client = createRemoteClient(await loadKubeconfig())
 * const pods = await client.list(Pod, { namespace: 'shop' })
 */
export function createRemoteClient(options: RemoteOptions): Client {
  checkConnection('createRemoteClient', options)
  return clientOver(transportOf(options), { watchTimeoutMs: 600_000, ...options })
}

/**
 * Creates the transport of `createRemoteClient`.
 *
 * @throws ClientError `InvalidRequest` for invalid options, such as `server` and `proxyUrl`, `Unsupported` for a proxy of another protocol
 * @example
 * import { createClient, createRemoteTransport, loadKubeconfig } from '@krmkit/client'
 * const transport = createRemoteTransport(await loadKubeconfig())
 * const client = createClient(transport, { namespace: 'shop' })
 */
export function createRemoteTransport(options: ConnectionOptions): Transport {
  checkConnection('createRemoteTransport', options)
  return transportOf(options)
}

/** The members of a connection, and the context that `loadKubeconfig` adds. */
const connectionKinds: OptionKinds<ConnectionOptions & { readonly context: string }> = {
  server: 'text',
  ca: 'text',
  certificate: 'text',
  key: 'text',
  token: 'textOrFunction',
  basic: 'object',
  credentials: 'object',
  tlsServerName: 'text',
  insecureSkipTlsVerify: 'flag',
  proxyUrl: 'text',
  context: 'text',
}

/** @throws ClientError `InvalidRequest` */
function checkConnection(what: string, options: ConnectionOptions): void {
  checkClientOptions(options, { what, kinds: connectionKinds, example: '{ server: "https://host:6443" }' })
}

function transportOf(options: ConnectionOptions): Transport {
  const url = serverUrl(options.server)
  const { secure, host, port } = addressOf(url)
  const connections = new Connections(options, url)
  const { forwarding } = connections
  // With a forwarding proxy, connections end at the proxy, which reads the URL of the server from the request line.
  const near = forwarding === undefined ? { host, port } : { host: forwarding.host, port: forwarding.port }
  const prefix = `${forwarding === undefined ? '' : `http://${url.host}`}${url.pathname.replace(/\/$/, '')}`
  const forwardHeaders = forwarding === undefined ? {} : { host: url.host, ...proxyHeaders(forwarding) }
  const sendRequest = (forwarding === undefined ? secure : forwarding.protocol === 'https') ? httpsRequest : httpRequest
  const { credentials: source } = options
  let closed = false

  const attempt = async (request: TransportRequest, credentials: Credentials): Promise<TransportResponse> => {
    const token = credentials.token ?? (typeof options.token === 'function' ? await options.token() : options.token)
    const target = `${prefix}${request.path}${request.query === '' ? '' : `?${request.query}`}`
    const agent = connections.agentFor(credentials)
    const headers = { ...headersOf(request, authorizationOf(token, options.basic)), ...forwardHeaders }
    const requestOptions: RequestOptions = { ...near, agent, method: request.method, path: target, headers }
    for (let isRetry = false; ; isRetry = true) {
      // Reading credentials does not observe the signal, so it is checked again.
      request.signal?.throwIfAborted()
      const exchange = startExchange(sendRequest(requestOptions), { request, open: connections.open })
      try {
        return await exchange.response
      } catch (error) {
        // The server closed a kept-alive connection while it was reused: retry once.
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
  /** The proxy to which requests are sent, if it forwards single requests. */
  readonly forwarding: ProxyAddress | undefined
  readonly #options: ConnectionOptions
  readonly #proxy: ProxyAddress | undefined
  readonly #url: URL
  #agent: HttpAgent
  #keyPair: Credentials
  /** Aborts connections through a proxy that are not established yet. */
  #connecting = new AbortController()

  constructor(options: ConnectionOptions, url: URL) {
    this.#options = options
    this.#url = url
    this.#proxy = options.proxyUrl === undefined ? undefined : parseProxyUrl(options.proxyUrl)
    const forwards = this.#proxy !== undefined && forwardsRequests(this.#proxy, { secure: addressOf(url).secure })
    this.forwarding = forwards ? this.#proxy : undefined
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
    this.#connecting.abort()
    this.#connecting = new AbortController()
  }

  #createAgent(keyPair: Credentials): HttpAgent {
    const { secure, host, port } = addressOf(this.#url)
    const options = { ...this.#options, ...keyPair }
    const { tlsServerName } = this.#options
    if (this.#proxy !== undefined) {
      const serverTls = secure ? tlsOf(options, tlsServerName ?? host) : undefined
      const proxyTls = tlsOf(options, this.#proxy.host)
      return createProxyAgent({ proxy: this.#proxy, host, port, serverTls, proxyTls, signal: this.#connecting.signal })
    }
    const keepAlive = { keepAlive: true, maxFreeSockets: 64, noDelay: true }
    return secure ? new HttpsAgent({ ...keepAlive, ...tlsOf(options, tlsServerName ?? host) }) : new HttpAgent(keepAlive)
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
  throw new ClientError({ code: 'InvalidRequest', message: `server: ${JSON.stringify(server)} is not an HTTP or HTTPS URL` })
}

function addressOf(url: URL): { readonly secure: boolean; readonly host: string; readonly port: number } {
  const secure = url.protocol === 'https:'
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  return { secure, host: url.hostname.replace(/^\[|\]$/g, ''), port }
}

function proxyHeaders(proxy: ProxyAddress): OutgoingHttpHeaders {
  const authorization = proxyAuthorization(proxy)
  return authorization === undefined ? {} : { 'proxy-authorization': authorization }
}

/** @param name host name that the server certificate must match */
function tlsOf(options: ConnectionOptions, name: string) {
  return {
    ...(options.ca === undefined ? {} : { ca: options.ca }),
    ...(options.certificate === undefined ? {} : { cert: options.certificate }),
    ...(options.key === undefined ? {} : { key: options.key }),
    ...(isIP(name) === 0 ? { servername: name } : {}),
    // The bundle may contain the certificate of the server itself.
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

/**
 * Calls back when a watch exceeds its requested timeout by 100 % or 30 s, whichever is less: the connection was then lost without an
 * error.
 *
 * @returns a function that cancels the callback
 */
function afterWatchTimeout(query: string, onLate: (error: Error) => void): () => void {
  const seconds = isWatch(query) ? Number(/(?:^|&)timeoutSeconds=(\d+)/.exec(query)?.[1] ?? 0) : 0
  if (seconds === 0) return () => undefined
  const lateMs = (seconds + Math.min(30, seconds)) * 1000
  const timer = setTimeout(() => onLate(new Error('the watch did not end after its timeout')), Math.min(lateMs, maxTimerMs))
  timer.unref()
  return () => clearTimeout(timer)
}

/** Maximum delay of a timer in Node; longer timers fire at once. */
const maxTimerMs = 2 ** 31 - 1

function startExchange(outgoing: ClientRequest, context: { request: TransportRequest; open: Set<ClientRequest> }) {
  const { request, open } = context
  open.add(outgoing)
  const response = new Promise<TransportResponse>((resolve, reject) => {
    const abort = () => {
      const reason = abortReason(request.signal)
      outgoing.destroy(reason)
      // A request that waits for a connection through a proxy emits an error only when that connection attempt ends.
      reject(reason)
    }
    request.signal?.addEventListener('abort', abort, { once: true })
    const cancel = afterWatchTimeout(request.query, (late) => outgoing.destroy(late))
    outgoing.once('close', () => {
      cancel()
      open.delete(outgoing)
      request.signal?.removeEventListener('abort', abort)
    })
    outgoing.on('error', reject)
    outgoing.once('response', (incoming) => {
      // Later errors reach the reader of the body.
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
