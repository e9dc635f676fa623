import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { ServerHttp2Session } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { bind, urlHost } from './bind.ts'
import { serveHttp1 } from './http1.ts'
import { maxHeaderFields } from './http1-head.ts'
import { createHttp2Port, type Http2Port } from './http2-server.ts'
import type { Listener, ListenOptions, ServerLike } from './interfaces.ts'
import { defaultListenLimits, validateOptions } from './listen-options.ts'
import { ListenerContext } from './listener-context.ts'
import { shutdown } from './shutdown.ts'
import { tlsFiles, tlsOptions } from './tls.ts'
import { upgradeExchange } from './upgrade.ts'

/**
 * Serves an API server on a port. A server that was created without an authorizer causes one warning.
 *
 * @throws HttpError `ListenFailed`, `InvalidTls`, `InvalidOption`
 * @example
 * import { createApiServer } from '@krmkit/apiserver'
 * import { listen, selfSigned } from '@krmkit/http'
 * import { memoryStorage } from '@krmkit/storage'
 * const server = await createApiServer({ storage: memoryStorage(), authorizer: ({ rbac }) => rbac(), bootstrapRoles: true })
 * await using listener = await listen(server, { port: 6443, tls: selfSigned('.krmkit/pki') })
 */
export async function listen(apiServer: ServerLike, options: ListenOptions): Promise<Listener> {
  validateOptions(apiServer, options)
  const { host = '127.0.0.1', tls } = options
  const limits = { ...defaultListenLimits, ...options.limits }
  const context = new ListenerContext({
    handle: apiServer.handle,
    limits,
    goaway: options.goaway,
    compresses: options.compression ?? true,
    onError: options.onError,
  })
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
      : createHttpsServer({ ...common, ...tlsOptions(files, limits.handshakeTimeoutMs, options.passed?.ticketKeys) })
  const sockets = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  server.maxHeadersCount = maxHeaderFields(limits.headerBytes)
  attachHttp1(server, context)
  if (files !== undefined) routeByProtocol(server, createHttp2Port(context, sessions))
  const track = (socket: Socket) => {
    sockets.add(socket)
    if (!('encrypted' in socket)) context.pending.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }
  server.on('connection', track)
  if (files !== undefined) {
    server.on('secureConnection', track)
    server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => rejectPlainText(context, { error, socket }))
  }
  if (Number.isFinite(limits.connections)) server.maxConnections = limits.connections
  const boundPort = await start(server, options)
  if (apiServer.allowsEveryRequest === true) (options.onWarning ?? process.emitWarning)(noAuthorizer)
  let closing: Promise<void> | undefined
  const close = (closeOptions: { readonly graceMs?: number } = {}) => {
    closing ??= shutdown({
      ...{ server, sockets, sessions, context, isBound: options.passed === undefined },
      graceMs: closeOptions.graceMs ?? options.graceMs ?? 10_000,
    })
    return closing
  }
  return {
    url: `${files === undefined ? 'http' : 'https'}://${urlHost(host)}:${boundPort}`,
    host,
    port: boundPort,
    authority: files?.authority,
    setClientAuthorities(pem) {
      if (files?.clientCa === undefined || !('setSecureContext' in server)) return
      server.setSecureContext(tlsOptions({ ...files, clientCa: pem }, limits.handshakeTimeoutMs, options.passed?.ticketKeys))
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

const noAuthorizer =
  'listen: the server has no authorizer, so every client that reaches the port may do everything: pass `authorizer` to createApiServer'

function attachHttp1(server: Server, context: ListenerContext): void {
  server.on('request', (message: IncomingMessage, response: ServerResponse) => {
    void serveHttp1(context, { message, response, expectsContinue: false })
  })
  server.on('checkContinue', (message: IncomingMessage, response: ServerResponse) => {
    void serveHttp1(context, { message, response, expectsContinue: true })
  })
  server.on('upgrade', (message: IncomingMessage, socket: Socket, head: Buffer) => {
    void serveHttp1(context, upgradeExchange(message, { socket, head }))
  })
  server.on('connect', (_message: IncomingMessage, socket: Socket) => {
    socket.on('error', () => undefined)
    socket.end(plainResponse('405 Method Not Allowed'))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (context.rejected.has(socket)) return
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy()
    else socket.end(plainResponse(statusOfClientError(error.code)))
  })
}

function statusOfClientError(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return '431 Request Header Fields Too Large'
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return '408 Request Timeout'
  return '400 Bad Request'
}

function plainResponse(status: string): string {
  const text = `${status}\n`
  return `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`
}

/** Responds to plain HTTP on the TLS port, over the TCP socket below. Node closes the connection. */
function rejectPlainText(context: ListenerContext, { error, socket }: { error: NodeJS.ErrnoException; socket: TLSSocket }): void {
  if (error.code !== 'ERR_SSL_HTTP_REQUEST') return
  context.pending.find(socket)?.write('HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n')
}

/** Passes each connection to the protocol negotiated by ALPN. */
function routeByProtocol(server: Server, http2: Http2Port): void {
  const listeners = server.listeners('secureConnection') as ((socket: TLSSocket) => void)[]
  server.removeAllListeners('secureConnection')
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') {
      http2.serve(socket)
      return
    }
    for (const listener of listeners) listener.call(server, socket)
    readThroughStream(socket)
  })
}

/**
 * Makes the parser of node:http read a TLS connection through its stream instead of its handle. Node pauses a connection when a request
 * arrives while an earlier response is still being flushed. TLS still delivers records that it has already decrypted. Through the handle,
 * these records reach the paused parser, which fails (HPE_PAUSED), so that the connection closes and the request gets no response. The
 * stream buffers the records instead. Node switches to the stream when the socket gets a `data` listener, even if the listener is removed
 * again.
 */
function readThroughStream(socket: TLSSocket): void {
  const ignore = () => undefined
  socket.on('data', ignore).off('data', ignore)
}

/** Listens, or receives connections from another process. @returns the port; 0 for a path */
async function start(server: Server, { host = '127.0.0.1', port = 0, path, passed }: ListenOptions): Promise<number> {
  if (passed === undefined) return bind(server, path === undefined ? { host, port } : { path })
  passed.receive((socket, onClosed) => {
    socket.setNoDelay(true)
    socket.once('close', onClosed)
    server.emit('connection', socket)
  })
  // Starts the timers of node:http that end slow requests.
  server.emit('listening')
  return port
}
