import type { Server } from 'node:http'
import type { ServerHttp2Session } from 'node:http2'
import { Server as NetServer, type Socket } from 'node:net'
import type { ListenerContext } from './listener-context.ts'

export interface ShutdownOptions {
  readonly server: Server
  readonly sockets: ReadonlySet<Socket>
  readonly sessions: ReadonlySet<ServerHttp2Session>
  readonly context: ListenerContext
  readonly graceMs: number
  /** Whether the server listens itself. If not, it counts as closed when its connections have closed. Default true. */
  readonly isBound?: boolean
}

/** How long destroyed connections may take to close. */
const destroyedMs = 1000

/**
 * Shuts a listener down: stops accepting connections, ends streams cleanly, waits for requests in flight, and destroys the remaining
 * connections after `graceMs`. Resolves at most one second later, even when the server never reports that it has closed, as on Bun.
 */
export async function shutdown(options: ShutdownOptions): Promise<void> {
  const { server, sockets, sessions, context, isBound = true } = options
  context.closing = true
  const closed = new Promise<void>((resolve) => {
    if (isBound) closeListener(server, resolve)
    else onceGone(sockets, resolve)
  })
  for (const stream of context.activeStreams) stream.stop()
  for (const session of sessions) session.close()
  const closeIdle = () => {
    // Node counts a connection as idle when its response has ended, even with unsent data, which would be lost.
    for (const socket of sockets) if (socket.writableLength > 0) return
    server.closeIdleConnections?.()
  }
  closeIdle()
  // Node has no event for a connection that becomes idle.
  const sweep = setInterval(closeIdle, 20)
  let last: NodeJS.Timeout | undefined
  const destroyed = new Promise<void>((resolve) => {
    last = setTimeout(() => {
      for (const session of sessions) session.destroy()
      for (const socket of sockets) socket.destroy()
      // On Bun, `sockets` does not contain every connection.
      server.closeAllConnections?.()
      last = setTimeout(resolve, destroyedMs)
    }, options.graceMs)
  })
  try {
    await Promise.race([closed, destroyed])
  } finally {
    clearInterval(sweep)
    clearTimeout(last)
    // Stops the interval timers of node:http.
    server.close(() => undefined)
  }
}

/**
 * Stops accepting connections. Uses `close` of node:net, because `close` of node:http destroys idle connections at once and loses their
 * unsent data. Bun's server is not a `net.Server`.
 */
function closeListener(server: Server, onClosed: () => void): void {
  if (server instanceof NetServer) NetServer.prototype.close.call(server, onClosed)
  else (server as Server).close(onClosed)
}

/** Calls back once no connections are left. */
function onceGone(sockets: ReadonlySet<Socket>, onGone: () => void): void {
  const check = () => {
    if (sockets.size === 0) onGone()
  }
  check()
  // The listener that removes a socket from the set was added first, so it runs before this one.
  for (const socket of sockets) socket.once('close', check)
}
