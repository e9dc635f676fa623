import { type ApiServerOptions, createApiServer as createServer, type EmbeddedServer } from '@krmkit/apiserver'
import { type Client, type InProcessOptions, inProcessClient } from '@krmkit/client'

/** Who a client in the same process is, and where it works. */
export interface CallerOptions extends Omit<InProcessOptions, 'user'> {
  /** Name of the user. Absent: the authenticators of the server decide. */
  readonly user?: string
  /** Default: that of everybody who is authenticated. */
  readonly groups?: readonly string[]
}

/** A server with clients at hand. */
export interface Server extends EmbeddedServer {
  /** A client in this process: its calls are calls of the server, without a socket. */
  client(options?: CallerOptions): Client
}

/** Composes a whole API server over a store; it listens on nothing until it is handed to `listen`. */
export async function createApiServer(options: ApiServerOptions): Promise<Server> {
  const server = await createServer(options)
  return {
    ...server,
    client({ user, groups = [], ...rest } = {}) {
      const who = user === undefined ? {} : { user: { username: user, groups: [...new Set([...groups, authenticated])] } }
      return inProcessClient(server, { clock: server.clock, ...rest, ...who })
    },
  }
}

const authenticated = 'system:authenticated'
