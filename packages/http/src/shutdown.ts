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
}

/**
 * Shuts a listener down: stops accepting connections, ends streams cleanly, waits for requests in flight, and destroys the remaining
 * connections after `graceMs`.
 */
export async function shutdown(options: ShutdownOptions): Promise<void> {
  const { server, sockets, sessions, context } = options
  context.closing = true
  // `close` of node:net, because that of node:http destroys idle connections at once; see below.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()))
  for (const stream of context.activeStreams) stream.stop()
  for (const session of sessions) session.close()
  const closeIdle = () => {
    // Node counts a connection as idle when its response has ended, even with unsent data, which would be lost.
    for (const socket of sockets) if (socket.writableLength > 0) return
    server.closeIdleConnections()
  }
  closeIdle()
  // Node has no event for a connection that becomes idle.
  const sweep = setInterval(closeIdle, 20)
  const deadline = setTimeout(() => {
    for (const session of sessions) session.destroy()
    for (const socket of sockets) socket.destroy()
  }, options.graceMs)
  try {
    await closed
  } finally {
    clearInterval(sweep)
    clearTimeout(deadline)
    // Stops the interval timers of node:http.
    server.close(() => undefined)
  }
}
