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
import { type ClientOptions, createClient } from './client.ts'
import { ClientError } from './client-error.ts'
import type { Client } from './interfaces.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'

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
  const keepAlive = { keepAlive: true, maxFreeSockets: 64, noDelay: true }
  const agent = secure ? new HttpsAgent({ ...keepAlive, ...tlsOf(options, url) }) : new HttpAgent(keepAlive)
  const base = {
    agent,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
  }
  const prefix = url.pathname.replace(/\/$/, '')
  const start = secure ? httpsRequest : httpRequest
  const open = new Set<ClientRequest>()
  let closed = false
  return {
    async send(request) {
      if (closed) throw new ClientError({ code: 'Closed', message: 'the client was closed' })
      request.signal?.throwIfAborted()
      const token = typeof options.token === 'function' ? await options.token() : options.token
      const target = `${prefix}${request.path}${request.query === '' ? '' : `?${request.query}`}`
      const how: RequestOptions = { ...base, method: request.method, path: target, headers: headersOf(request, token) }
      for (let again = false; ; again = true) {
        const attempt = exchange(start(how), { request, open })
        try {
          return await attempt.answer
        } catch (error) {
          // The server closed a kept connection just as it was used again: nothing was lost, ask once more.
          if (again || request.method !== 'GET' || !attempt.wasStale(error))
            throw unreachable(error, { request, server: options.server })
        }
      }
    },
    async close() {
      closed = true
      for (const request of open) request.destroy()
      agent.destroy()
    },
  }
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
    rejectUnauthorized: options.insecureSkipTlsVerify !== true,
    minVersion: 'TLSv1.2' as const,
  }
}

function headersOf(request: TransportRequest, token: string | undefined): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ...(request.headers as OutgoingHttpHeaders) }
  if (token !== undefined && token !== '' && headers.authorization === undefined) headers.authorization = `Bearer ${token}`
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
