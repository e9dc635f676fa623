import { constants, createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { FilteredConnection } from './filtered-connection.ts'
import { HeaderBudget } from './header-budget.ts'
import { HeaderReader } from './header-reader.ts'
import { serveHttp2 } from './http2-stream.ts'
import type { ListenLimits } from './interfaces.ts'
import type { ListenerContext } from './listener-context.ts'
import { ResetBudget, resetsPerSecond } from './reset-budget.ts'

const endStreamFlag = 1
/** Maximum frame size, as in kube-apiserver. */
const frameBytes = 256 * 1024
/** Memory budget for the large header lists of all open streams of a connection. */
const headerBudgetBytes = 8 * 1024 * 1024
/** kube-apiserver adds this to the limit, for the fields that every request has. */
const listAllowance = 320
/**
 * Time between GOAWAY and the end of a connection whose client broke the protocol. Closing a socket with unread input at once would make
 * the kernel discard the GOAWAY.
 */
const lingerMs = 500

/**
 * High limits, because `ResetBudget` limits resets: node's default (1000, then 33 per second) rejects clients that often cancel watches.
 * Node 20 ignores these options.
 */
const nodeResetLimits = { streamResetBurst: 2 * resetsPerSecond, streamResetRate: 2 * resetsPerSecond }

/**
 * Memory limit of a session in megabytes. Node refuses new streams while a connection has more unsent data. A client with several large
 * responses at once would exceed the default of 10. The unsent data of one stream is bounded by its pieces.
 */
const sessionMemory = 128

export interface Http2Port {
  /** Serves a connection that negotiated HTTP/2. */
  serve(socket: TLSSocket): void
}

/**
 * Creates HTTP/2 sessions over filtered connections: `HeaderReader` supplies the request headers. Header lists up to twice the limit are
 * rejected with 431; larger ones close the connection, as do too many resets.
 */
export function createHttp2Port(context: ListenerContext, sessions: Set<ServerHttp2Session>): Http2Port {
  const { limits } = context
  const listBytes = limits.headerBytes + listAllowance
  const readerLimits = { listBytes, frameBytes, blockBytes: 2 * listBytes }
  const server = createSessions(limits, listBytes)
  return {
    serve(socket) {
      const resets = new ResetBudget()
      const reader = new HeaderReader(readerLimits, resets)
      let session: ServerHttp2Session | undefined
      const filtered = new FilteredConnection(socket, (chunk) => {
        const passed = reader.read(chunk)
        if (passed === undefined && session !== undefined)
          refuse(session, resets.isExceeded ? constants.NGHTTP2_ENHANCE_YOUR_CALM : constants.NGHTTP2_PROTOCOL_ERROR)
        return passed
      })
      server.once('session', (created) => {
        session = created
      })
      // Emits `session` synchronously.
      server.emit('connection', filtered)
      if (session === undefined) {
        filtered.destroy()
        return
      }
      filtered.once('close', () => session?.destroy())
      closeWhenIdle(session, filtered, limits.idleTimeoutMs)
      track(session, { context, sessions })
      let settled = false
      const budget = new HeaderBudget(headerBudgetBytes)
      session.on('stream', (stream: ServerHttp2Stream, _headers, flags: number) => {
        if (!settled) {
          settled = true
          context.pending.settle(socket)
        }
        const head = reader.take(stream.id ?? 0)
        if (head !== undefined) budget.charge(stream, head)
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
    maxSessionMemory: sessionMemory,
    ...nodeResetLimits,
  })
}

/** Sends GOAWAY with a code, and closes the connection when the client has had time to read it. */
function refuse(session: ServerHttp2Session, code: number): void {
  if (session.destroyed) return
  session.goaway(code)
  // Without an error, node sends another code.
  const timer = setTimeout(() => session.destroy(new Error('the client broke the protocol'), code), lingerMs)
  session.once('close', () => clearTimeout(timer))
}

/**
 * Closes the session of a connection that has been idle for `idleMs`. Node's session timer is not used, because it keeps running after the
 * end of the session and retains the memory of the session until it fires.
 */
function closeWhenIdle(session: ServerHttp2Session, filtered: FilteredConnection, idleMs: number): void {
  const check = () => {
    const restMs = filtered.activeAtMs + idleMs - performance.now()
    if (restMs <= 0) session.close()
    else timer = setTimeout(check, restMs).unref()
  }
  let timer = setTimeout(check, idleMs).unref()
  filtered.once('close', () => clearTimeout(timer))
}

function track(
  session: ServerHttp2Session,
  { context, sessions }: { readonly context: ListenerContext; readonly sessions: Set<ServerHttp2Session> },
): void {
  sessions.add(session)
  session.on('error', () => undefined)
  session.once('close', () => sessions.delete(session))
  if (context.closing) session.close()
}
