import { constants, createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { Context } from './exchange.ts'
import { HeaderReader } from './header-reader.ts'
import { serveHttp2 } from './http2-stream.ts'
import type { ListenLimits } from './interfaces.ts'
import { TappedConnection } from './tapped-connection.ts'

const endStreamFlag = 1
/** As the stock server. */
const frameBytes = 256 * 1024
/** What the stock server adds to its limit for the fields that every request has. */
const listAllowance = 320

export interface Http2Port {
  /** Serves a connection on which HTTP/2 was agreed. */
  serve(socket: TLSSocket): void
}

/**
 * Sessions of HTTP/2 over tapped connections: headers of requests are those that `HeaderReader` saw.
 *
 * Node's own limits on header lists are twice ours, so that lists that are too large are answered instead of reset.
 */
export function createHttp2Port(context: Context, sessions: Set<ServerHttp2Session>): Http2Port {
  const { limits } = context
  const listBytes = limits.headerBytes + listAllowance
  const readerLimits = { listBytes, frameBytes, blockBytes: 2 * listBytes }
  const server = createSessions(limits, 2 * listBytes)
  return {
    serve(socket) {
      const reader = new HeaderReader(readerLimits)
      let session: ServerHttp2Session | undefined
      const tapped = new TappedConnection(socket, (chunk) => {
        if (reader.read(chunk)) return true
        session?.destroy(undefined, constants.NGHTTP2_PROTOCOL_ERROR)
        return false
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
      keep(session, { context, sessions })
      let settled = false
      session.on('stream', (stream: ServerHttp2Stream, _headers, flags: number) => {
        if (!settled) {
          settled = true
          context.pending.settle(socket)
        }
        const list = reader.take(stream.id ?? 0)
        void serveHttp2(context, { stream, socket, list, ended: (flags & endStreamFlag) !== 0 })
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
    maxHeaderListPairs: Math.ceil(listBytes / 32),
    maxSendHeaderBlockLength: limits.headerBytes,
  })
}

function keep(
  session: ServerHttp2Session,
  { context, sessions }: { readonly context: Context; readonly sessions: Set<ServerHttp2Session> },
): void {
  sessions.add(session)
  session.setTimeout(context.limits.idleTimeoutMs, () => session.close())
  session.on('error', () => undefined)
  session.once('close', () => sessions.delete(session))
  if (context.closing) session.close()
}
