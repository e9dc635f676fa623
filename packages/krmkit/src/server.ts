import { type ApiServerOptions, createApiServer as createServer, type EmbeddedServer } from '@krmkit/apiserver'
import { isObject, type OptionKinds, optionsProblem, shown } from '@krmkit/base/arguments'
import { type Client, ClientError, createInProcessClient, type InProcessOptions } from '@krmkit/client'

/** The user and defaults of an in-process client. */
export interface CallerOptions extends Omit<InProcessOptions, 'user'> {
  /** Name of the user. Default: the authenticators of the server decide. */
  readonly user?: string
  /** Groups in addition to `system:authenticated`. */
  readonly groups?: readonly string[]
}

/** An embedded server with in-process clients. */
export interface Server extends EmbeddedServer {
  /** Creates a client that calls the server directly, without a socket. @throws ClientError `InvalidRequest` */
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
    client(options = {}) {
      checkCaller(options)
      const { user, groups = [], ...rest } = options
      const identity = user === undefined ? {} : { user: { username: user, groups: [...new Set([...groups, authenticated])] } }
      return createInProcessClient(server, { clock: server.clock, ...rest, ...identity })
    },
  }
}

const authenticated = 'system:authenticated'

const callerKinds: OptionKinds<CallerOptions> = {
  user: 'text',
  groups: 'texts',
  decisions: 'function',
  internal: 'flag',
  namespace: 'text',
  headers: 'object',
  userAgent: 'text',
  impersonate: 'object',
  clock: 'object',
  random: 'object',
  maxRetries: 'number',
  watchTimeoutMs: 'number',
  onWarning: 'function',
  protobuf: 'object',
}
const example = '{ user: "alice", groups: ["dev"] }'

/** Validates the caller, because a misspelt user would make it anonymous. @throws ClientError `InvalidRequest` */
function checkCaller(options: CallerOptions): void {
  const user: unknown = options?.user
  const problem = isObject(user)
    ? `client: user is a name, as in ${example}, not ${shown(user)}`
    : optionsProblem(options, { what: 'client', kinds: callerKinds, example })
  const message =
    problem ?? (user === undefined && options.groups !== undefined ? `client: groups need a user, as in ${example}` : undefined)
  if (message !== undefined) throw new ClientError({ code: 'InvalidRequest', message })
}
