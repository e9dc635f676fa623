import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ApiServerOptions, createApiServer, type EmbeddedServer, type ServerLimits } from '@krmkit/apiserver'
import {
  anonymousAuthenticator,
  createAuthenticatorChain,
  createBearerTokenAuthenticator,
  createStaticTokenAuthenticator,
  withAuthenticatedGroup,
} from '@krmkit/authentication'
import { systemMasters } from '@krmkit/authorization'
import { type Client, createInProcessClient } from '@krmkit/client'
import { listen, selfSigned } from '@krmkit/http'
import { type Clock, stockProfile, systemClock, systemRandom, type UserInfo } from '@krmkit/meta'
import { memoryStorage, type Storage } from '@krmkit/storage'

/** A server on a free local port, composed like `krmkit serve`, with a temporary folder. */
export interface LocalServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** PEM. */
  readonly authority: string
  readonly token: string
  readonly storage: Storage
  readonly server: EmbeddedServer
  /** Calls the server without a socket, as the administrator. */
  readonly client: Client
  /** A temporary folder, removed at the end. */
  readonly folder: string
  /** The path of an administrator's kubeconfig for `url`, or for another address of the server. */
  kubeconfig(server?: string): Promise<string>
}

export interface LocalServerOptions {
  readonly storage?: Storage
  readonly clock?: Clock
  readonly limits?: Partial<ServerLimits>
  /** Called for every completed request. */
  readonly audit?: ApiServerOptions['audit'] & object
  readonly proxy?: ApiServerOptions['proxy'] & object
}

const administrator: UserInfo = { username: 'kubernetes-admin', groups: ['system:masters'] }
const bystander: UserInfo = { username: 'bystander', groups: [] }

/** A token of a user without permissions. */
export const bystanderToken = 'bystander-token-0123456789'

export async function startLocalServer(options: LocalServerOptions = {}): Promise<LocalServer> {
  const { clock = systemClock, limits = {} } = options
  const folder = await mkdtemp(join(tmpdir(), 'krmkit-clients-'))
  const token = Buffer.from(systemRandom.bytes(24)).toString('base64url')
  const people = createBearerTokenAuthenticator(
    createStaticTokenAuthenticator(
      [
        { token, user: administrator },
        { token: bystanderToken, user: bystander },
      ],
      { random: systemRandom },
    ),
  )
  const storage = options.storage ?? memoryStorage({ clock: systemClock })
  const faults: unknown[] = []
  const server = await createApiServer({
    storage,
    clock,
    limits,
    random: systemRandom,
    authenticator: createAuthenticatorChain([withAuthenticatedGroup(people), anonymousAuthenticator], { onRejection: 'stop' }),
    authorizer: systemMasters,
    ...(options.audit === undefined ? {} : { audit: options.audit }),
    ...(options.proxy === undefined ? {} : { proxy: options.proxy }),
    onError: (error) => void faults.push(error),
  })
  const listening = await listen(server, {
    tls: selfSigned(join(folder, 'pki'), {
      hosts: ['127.0.0.1', 'localhost'],
      clock: systemClock,
      random: systemRandom,
      profile: stockProfile,
    }),
    onError: (error) => void faults.push(error),
  })
  const { url, port, authority = '' } = listening
  return {
    url,
    port,
    authority,
    token,
    storage,
    server,
    client: createInProcessClient(server, {
      user: { ...administrator, groups: [...administrator.groups, 'system:authenticated'] },
    }),
    folder,
    async kubeconfig(address = url) {
      const path = join(folder, `kubeconfig-${new URL(address).port}`)
      await writeFile(path, JSON.stringify(kubeconfigOf({ address, authority, token })), { mode: 0o600 })
      return path
    },
    async [Symbol.asyncDispose]() {
      await listening.close({ graceMs: 2000 })
      await server.close()
      await rm(folder, { recursive: true, force: true })
      if (faults.length > 0) throw new AggregateError(faults, 'the server responded with internal errors')
    },
  }
}

/** A kubeconfig as an object; kubectl and the client libraries parse JSON as YAML. */
export function kubeconfigOf(how: { readonly address: string; readonly authority: string; readonly token: string }): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'local',
        cluster: { server: how.address, 'certificate-authority-data': Buffer.from(how.authority).toString('base64') },
      },
    ],
    users: [
      { name: 'admin', user: { token: how.token } },
      { name: 'bystander', user: { token: bystanderToken } },
    ],
    contexts: [
      { name: 'local', context: { cluster: 'local', user: 'admin' } },
      { name: 'bystander', context: { cluster: 'local', user: 'bystander' } },
    ],
    'current-context': 'local',
  }
}
