import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { ServerHttp2Session } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { Context } from './exchange.ts'
import { HttpError } from './http-error.ts'
import { serveHttp1 } from './http1.ts'
import { maxHeaderFields } from './http1-refusal.ts'
import { createHttp2Port, type Http2Port } from './http2-server.ts'
import type { Listening, ListenLimits, ListenOptions, Served } from './interfaces.ts'
import { shutdown } from './shutdown.ts'
import { isWildcard, tlsFiles, tlsOptions } from './tls.ts'
import { takenOverExchange } from './upgrade.ts'

export const defaultLimits: ListenLimits = {
  headerBytes: 1024 * 1024,
  headersTimeoutMs: 32_000,
  requestTimeoutMs: 60_000,
  idleTimeoutMs: 90_000,
  handshakeTimeoutMs: 10_000,
  concurrentStreams: 250,
  bodyWindowMs: 10_000,
  bodyBytesPerSecond: 500,
  pendingConnections: 4096,
  pendingConnectionsPerAddress: 512,
  connections: Number.POSITIVE_INFINITY,
}

/**
 * Serves `served` on a port.
 *
 * @throws HttpError `ListenFailed`, `InvalidTls`, `InvalidOption`.
 */
export async function listen(served: Served, options: ListenOptions): Promise<Listening> {
  const { host = '127.0.0.1', port = 0, tls } = options
  const limits = { ...defaultLimits, ...options.limits }
  const chance = options.goaway?.chance ?? 0
  if (!(chance >= 0 && chance <= 0.02))
    throw new HttpError({ code: 'InvalidOption', message: 'the chance of goaway lies between 0 and 0.02' })
  const context = new Context({ handle: served.handle, limits, goaway: options.goaway, onFault: options.onFault })
  const files = tls === false ? undefined : await tlsFiles(tls, host)
  const common = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: Math.ceil(Math.min(5000, limits.headersTimeoutMs / 2, limits.requestTimeoutMs / 2)),
    noDelay: true,
    insecureHTTPParser: false,
  }
  const server =
    files === undefined
      ? createHttpServer(common)
      : createHttpsServer({ ...common, ...tlsOptions(files, limits.handshakeTimeoutMs) })
  const sockets = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  server.maxHeadersCount = maxHeaderFields(limits.headerBytes)
  attachHttp1(server, context)
  if (files !== undefined) routeByProtocol(server, createHttp2Port(context, sessions))
  const keep = (socket: Socket) => {
    sockets.add(socket)
    if (!('encrypted' in socket)) context.pending.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }
  server.on('connection', keep)
  if (files !== undefined) {
    server.on('secureConnection', keep)
    server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => answerPlainText(context, { error, socket }))
  }
  if (Number.isFinite(limits.connections)) server.maxConnections = limits.connections
  const address = await bind(server, { host, port })
  let closing: Promise<void> | undefined
  const close = (how: { readonly graceMs?: number } = {}) => {
    closing ??= shutdown({ server, sockets, sessions, context, graceMs: how.graceMs ?? options.graceMs ?? 10_000 })
    return closing
  }
  return {
    url: `${files === undefined ? 'http' : 'https'}://${urlHost(host)}:${address.port}`,
    host,
    port: address.port,
    authority: files?.authority,
    setClientAuthorities(pem) {
      if (files?.clientCa === undefined || !('setSecureContext' in server)) return
      server.setSecureContext(tlsOptions({ ...files, clientCa: pem }, limits.handshakeTimeoutMs))
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function attachHttp1(server: Server, context: Context): void {
  server.on('request', (message: IncomingMessage, response: ServerResponse) => {
    void serveHttp1(context, { message, response, waits: false })
  })
  server.on('checkContinue', (message: IncomingMessage, response: ServerResponse) => {
    void serveHttp1(context, { message, response, waits: true })
  })
  server.on('upgrade', (message: IncomingMessage, socket: Socket, head: Buffer) => {
    void serveHttp1(context, takenOverExchange(message, { socket, head }))
  })
  server.on('connect', (_message: IncomingMessage, socket: Socket) => {
    socket.on('error', () => undefined)
    socket.end(bareAnswer('405 Method Not Allowed'))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (context.refused.has(socket)) return
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy()
    else socket.end(bareAnswer(statusOfClientError(error.code)))
  })
}

function statusOfClientError(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return '431 Request Header Fields Too Large'
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return '408 Request Timeout'
  return '400 Bad Request'
}

function bareAnswer(status: string): string {
  const text = `${status}\n`
  return `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`
}

/** Requests without TLS to the port of TLS: the answer goes out on the connection beneath, which node ends. */
function answerPlainText(context: Context, { error, socket }: { error: NodeJS.ErrnoException; socket: TLSSocket }): void {
  if (error.code !== 'ERR_SSL_HTTP_REQUEST') return
  context.pending.find(socket)?.write('HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n')
}

/** Hands every finished handshake to the protocol that was agreed on. */
function routeByProtocol(server: Server, http2: Http2Port): void {
  const listeners = server.listeners('secureConnection') as ((socket: TLSSocket) => void)[]
  server.removeAllListeners('secureConnection')
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') http2.serve(socket)
    else for (const listener of listeners) listener.call(server, socket)
  })
}

function bind(server: Server, options: { host: string; port: number }): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const onError = (cause: NodeJS.ErrnoException) => {
      const { host, port } = options
      const why = cause.code === 'EADDRINUSE' ? 'the port is in use' : cause.message
      reject(new HttpError({ code: 'ListenFailed', message: `cannot listen on ${urlHost(host, host)}:${port}: ${why}`, cause }))
    }
    server.once('error', onError)
    server.listen({ host: options.host, port: options.port, backlog: 1024 }, () => {
      server.off('error', onError)
      resolve(server.address() as AddressInfo)
    })
  })
}

function urlHost(host: string, wildcard = host === '::' ? '::1' : '127.0.0.1'): string {
  const name = isWildcard(host) ? wildcard : host
  return name.includes(':') ? `[${name}]` : name
}
