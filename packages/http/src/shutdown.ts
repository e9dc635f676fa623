import type { Server } from 'node:http'
import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
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
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  for (const pump of context.pumps) pump.stop()
  for (const session of sessions) session.close()
  server.closeIdleConnections()
  // A connection becomes idle when its last answer is written, which node does not tell.
  const sweep = setInterval(() => server.closeIdleConnections(), 20)
  const deadline = setTimeout(() => {
    for (const session of sessions) session.destroy()
    for (const socket of sockets) socket.destroy()
  }, running.graceMs)
  try {
    await closed
  } finally {
    clearInterval(sweep)
    clearTimeout(deadline)
  }
}
