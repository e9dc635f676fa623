import { type ApiServerOptions, createApiServer as createServer, type EmbeddedServer } from '@krmkit/apiserver'
import { type Client, createInProcessClient, type InProcessOptions } from '@krmkit/client'

/** The user and defaults of an in-process client. */
export interface CallerOptions extends Omit<InProcessOptions, 'user'> {
  /** Name of the user. Default: the authenticators of the server decide. */
  readonly user?: string
  /** Groups in addition to `system:authenticated`. */
  readonly groups?: readonly string[]
}

/** An embedded server with in-process clients. */
export interface Server extends EmbeddedServer {
  /** Creates a client that calls the server directly, without a socket. */
  client(options?: CallerOptions): Client
}

/**
 * Creates an API server over a storage. It opens no socket; `listen` serves it on a port.
 *
 * @example
 * import { builtInKinds, createApiServer, memoryStorage } from 'krmkit'
 * import { Pod } from '@krmkit/kinds/core/v1'
 * const server = await createApiServer({ storage: memoryStorage(), kinds: builtInKinds() })
 * const pods = await server.client({ user: 'alice' }).list(Pod, { namespace: 'default' })
 */
export async function createApiServer(options: ApiServerOptions): Promise<Server> {
  const server = await createServer(options)
  return {
    ...server,
    client({ user, groups = [], ...rest } = {}) {
      const identity = user === undefined ? {} : { user: { username: user, groups: [...new Set([...groups, authenticated])] } }
      return createInProcessClient(server, { clock: server.clock, ...rest, ...identity })
    },
  }
}

const authenticated = 'system:authenticated'
