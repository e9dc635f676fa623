import type { Server } from 'node:http'
import type { ServerHttp2Session } from 'node:http2'
import { Server as NetServer, type Socket } from 'node:net'
import type { Context } from './exchange.ts'

export interface Running {
  readonly server: Server
  readonly sockets: ReadonlySet<Socket>
  readonly sessions: ReadonlySet<ServerHttp2Session>
  readonly context: Context
  readonly graceMs: number
}

/**
 * Ends a listener in order: nothing new is accepted; streams end cleanly; answers under way finish; what is left after
 * `graceMs` is cut off.
 */
export async function shutdown(running: Running): Promise<void> {
  const { server, sockets, sessions, context } = running
  context.closing = true
  // The closing of node:net: that of node:http also destroys idle connections at once, see below.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()))
  for (const pump of context.pumps) pump.stop()
  for (const session of sessions) session.close()
  const closeIdle = () => {
    // Node takes a connection for idle as soon as its answer is ended; what is still on its way out would be lost.
    for (const socket of sockets) if (socket.writableLength > 0) return
    server.closeIdleConnections()
  }
  closeIdle()
  // A connection becomes idle when its last answer is written, which node does not tell.
  const sweep = setInterval(closeIdle, 20)
  const deadline = setTimeout(() => {
    for (const session of sessions) session.destroy()
    for (const socket of sockets) socket.destroy()
  }, running.graceMs)
  try {
    await closed
  } finally {
    clearInterval(sweep)
    clearTimeout(deadline)
    // Ends what node:http does at intervals for a server that listens.
    server.close(() => undefined)
  }
}
