import { lookup } from 'node:dns/promises'
import { type ClientRequest, type Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { type Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ApiResponse, ProxiedRequest, ProxyTarget, ProxyTransport, ServiceAddress } from '@krmkit/protocol'
import { connectionError, connectTimeoutCode } from './connection-error.ts'
import { decodeHeaderValue, encodeHeaderValue } from './header-value.ts'
import {
  createAgent,
  createPlainAgent,
  destinationOf,
  hostOf,
  isPlain,
  isStaleConnection,
  validateTarget,
} from './outbound-agent.ts'

type Agent = HttpAgent | HttpsAgent

/** Time limit for establishing a connection, as in Go's client. */
const connectMs = 30_000
const maxHeadBytes = 1024 * 1024

/**
 * Forwards requests to other servers over HTTPS or HTTP. Bodies are streamed in both directions, so that a slow reader slows down the other
 * server. All requests to one target share a connection pool.
 *
 * @example
 * import { createProxyTransport } from '@krmkit/http'
 * using transport = createProxyTransport()
 * const metrics = transport.open({ origin: 'https://metrics.example.com' })
 * const { signal } = new AbortController()
 * const response = await metrics.send({ method: 'GET', path: '/apis/metrics.k8s.io/v1beta1', headers: {}, signal })
 */
export function createProxyTransport(): ProxyTransport & Disposable {
  const agents = new Set<Agent>()
  const open = new Set<ClientRequest>()
  const connections = new Set<Duplex>()
  return {
    open(target) {
      validateTarget(target)
      const agent = isPlain(target.origin) ? createPlainAgent() : createAgent(target)
      agents.add(agent)
      return {
        async send(request) {
          const address = request.address ?? (await target.resolve?.())
          for (let isRetry = false; ; isRetry = true) {
            const attempt = start(agent, target, request, { address, open })
            try {
              const response = await attempt.response
              if (response.body.kind === 'connection') track(connections, response.body.connection)
              return response
            } catch (error) {
              if (isRetry || request.signal.aborted || !attempt.isRetryable(error))
                throw proxyError(error, target, { request, address })
            }
          }
        },
        close() {
          agents.delete(agent)
          for (const idle of Object.values(agent.freeSockets)) for (const socket of idle ?? []) socket.destroy()
        },
      }
    },
    async lookup(host) {
      try {
        return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address)
      } catch (error) {
        throw new Error(`lookup ${host}: no such host`, { cause: error })
      }
    },
    [Symbol.dispose]() {
      for (const request of open) request.destroy()
      for (const connection of connections) connection.destroy()
      for (const agent of agents) agent.destroy()
      agents.clear()
    },
  }
}

function track(connections: Set<Duplex>, connection: Duplex): void {
  connections.add(connection)
  connection.once('close', () => connections.delete(connection))
}

interface Attempt {
  readonly response: Promise<ApiResponse>
  /** Whether the request failed before the other server received it. */
  isRetryable(error: unknown): boolean
}

function start(
  agent: Agent,
  target: ProxyTarget,
  request: ProxiedRequest,
  { address, open }: { readonly address: ServiceAddress | undefined; readonly open: Set<ClientRequest> },
): Attempt {
  const { host, port, name } = destinationOf(target, address)
  const { body } = request
  const options = {
    agent,
    method: request.method,
    host,
    port,
    ...(target.socketPath === undefined ? {} : { socketPath: target.socketPath }),
    path: encodeHeaderValue(request.path),
    signal: request.signal,
    headers: headersFor(request, hostOf(target.origin)),
    maxHeaderSize: maxHeadBytes,
  }
  const servername = isIP(name) === 0 ? name : ''
  const outgoing = isPlain(target.origin) ? httpRequest(options) : httpsRequest({ ...options, servername })
  outgoing.once('socket', (socket) => limitConnectTime(socket, outgoing))
  open.add(outgoing)
  outgoing.once('close', () => open.delete(outgoing))
  const response = new Promise<ApiResponse>((resolve, reject) => {
    outgoing.on('error', reject)
    outgoing.once('response', (incoming) => resolve(streamedResponse(incoming, outgoing)))
    outgoing.once('upgrade', (incoming, connection: Duplex, head) => {
      if (head.length > 0) connection.unshift(head)
      resolve({ ...headOf(incoming), body: { kind: 'connection', connection } })
    })
    if (body === undefined || body instanceof Uint8Array) outgoing.end(body)
    else pipeline(Readable.from(body, { objectMode: false }), outgoing).catch(reject)
  })
  const isRetryable = (error: unknown) => body === undefined && isStaleConnection(outgoing, error)
  return { response, isRetryable }
}

/** Aborts a request whose connection is not established in time. */
function limitConnectTime(socket: Socket, outgoing: ClientRequest): void {
  if (!socket.connecting) return
  const interrupt = () => outgoing.destroy(Object.assign(new Error('i/o timeout'), { code: connectTimeoutCode }))
  const timer = setTimeout(interrupt, connectMs).unref()
  const settle = () => clearTimeout(timer)
  socket.once('connect', settle)
  outgoing.once('close', settle)
}

/** Headers override the default `host`. Node sends a body of unknown length in chunks. */
function headersFor({ body, headers }: ProxiedRequest, host: string): Record<string, string | string[]> {
  const out: Record<string, string | string[]> = { host }
  for (const [name, value] of Object.entries(headers)) {
    out[name] = typeof value === 'string' ? encodeHeaderValue(value) : value.map(encodeHeaderValue)
  }
  if (body instanceof Uint8Array) out['content-length'] = String(body.byteLength)
  return out
}

function streamedResponse(incoming: IncomingMessage, outgoing: ClientRequest): ApiResponse {
  return { ...headOf(incoming), body: { kind: 'stream', stream: responseBody(incoming, outgoing) } }
}

function headOf(incoming: IncomingMessage): Pick<ApiResponse, 'status' | 'headers'> {
  return { status: incoming.statusCode ?? 502, headers: headersOf(incoming.headersDistinct) }
}

/**
 * Ends the request as soon as the reader returns. Not written as a generator, because `return` of a generator would wait for the pending
 * chunk.
 */
function responseBody(incoming: IncomingMessage, outgoing: ClientRequest): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = (incoming as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
      return {
        next: () => iterator.next(),
        async return() {
          if (!incoming.complete) outgoing.destroy()
          return { done: true, value: undefined }
        },
      }
    },
  }
}

function headersOf(headers: IncomingMessage['headersDistinct']): Record<string, string | readonly string[]> {
  const out: Record<string, string | readonly string[]> = {}
  for (const [name, values] of Object.entries(headers)) {
    if (values === undefined) continue
    const decoded = values.map(decodeHeaderValue)
    out[name] = decoded.length === 1 ? (decoded[0] as string) : decoded
  }
  return out
}

/** Returns the reason of an abort, and a connection error for other failures. */
function proxyError(
  error: unknown,
  target: ProxyTarget,
  { request, address }: { readonly request: ProxiedRequest; readonly address: ServiceAddress | undefined },
): Error {
  const { signal } = request
  if (signal.aborted && signal.reason instanceof Error && signal.reason.name !== 'AbortError') return signal.reason
  if (signal.aborted) return new Error('context canceled')
  return connectionError(error, destinationOf(target, address))
}
