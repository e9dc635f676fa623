import { constants, createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { Context } from './exchange.ts'
import { HeaderReader } from './header-reader.ts'
import { HeldHeads } from './held-heads.ts'
import { serveHttp2 } from './http2-stream.ts'
import type { ListenLimits } from './interfaces.ts'
import { TappedConnection } from './tapped-connection.ts'

const endStreamFlag = 1
/** As the stock server. */
const frameBytes = 256 * 1024
/** What the header lists of a connection may take that are in use at one time, large ones counted. */
const maxHeldBytes = 8 * 1024 * 1024
/** What the stock server adds to its limit for the fields that every request has. */
const listAllowance = 320

export interface Http2Port {
  /** Serves a connection on which HTTP/2 was agreed. */
  serve(socket: TLSSocket): void
}

/**
 * Sessions of HTTP/2 over tapped connections: headers of requests are those that `HeaderReader` read. Lists up to twice the limit are
 * answered, larger ones end the connection.
 */
export function createHttp2Port(context: Context, sessions: Set<ServerHttp2Session>): Http2Port {
  const { limits } = context
  const listBytes = limits.headerBytes + listAllowance
  const readerLimits = { listBytes, frameBytes, blockBytes: 2 * listBytes }
  const server = createSessions(limits, listBytes)
  return {
    serve(socket) {
      const reader = new HeaderReader(readerLimits)
      let session: ServerHttp2Session | undefined
      const tapped = new TappedConnection(socket, (chunk) => {
        const passed = reader.read(chunk)
        if (passed === undefined) session?.destroy(undefined, constants.NGHTTP2_PROTOCOL_ERROR)
        return passed
      })
      server.once('session', (made) => {
        session = made
      })
      // Makes the session, and names it, before it returns.
      server.emit('connection', tapped)
      if (session === undefined) {
        tapped.destroy()
        return
      }
      tapped.once('close', () => session?.destroy())
      closeWhenIdle(session, tapped, limits.idleTimeoutMs)
      keep(session, { context, sessions })
      let settled = false
      const held = new HeldHeads(maxHeldBytes)
      session.on('stream', (stream: ServerHttp2Stream, _headers, flags: number) => {
        if (!settled) {
          settled = true
          context.pending.settle(socket)
        }
        const head = reader.take(stream.id ?? 0)
        if (head !== undefined) held.hold(stream, head)
        void serveHttp2(context, { stream, socket, head, ended: (flags & endStreamFlag) !== 0 })
      })
    },
  }
}

function createSessions(limits: ListenLimits, listBytes: number): Http2Server {
  return createServer({
    settings: {
      maxConcurrentStreams: limits.concurrentStreams,
      initialWindowSize: 256 * 1024,
      maxFrameSize: frameBytes,
      maxHeaderListSize: listBytes,
    },
    maxSendHeaderBlockLength: limits.headerBytes,
  })
}

/**
 * Closes the session of a connection on which nothing has come or gone for `idleMs`. Node's own timer of a session is not used: it runs on
 * when the session has ended, and keeps all that the connection used for so long.
 */
function closeWhenIdle(session: ServerHttp2Session, tapped: TappedConnection, idleMs: number): void {
  const look = () => {
    const restMs = tapped.activeAtMs + idleMs - performance.now()
    if (restMs <= 0) session.close()
    else timer = setTimeout(look, restMs).unref()
  }
  let timer = setTimeout(look, idleMs).unref()
  tapped.once('close', () => clearTimeout(timer))
}

function keep(
  session: ServerHttp2Session,
  { context, sessions }: { readonly context: Context; readonly sessions: Set<ServerHttp2Session> },
): void {
  sessions.add(session)
  session.on('error', () => undefined)
  session.once('close', () => sessions.delete(session))
  if (context.closing) session.close()
}
