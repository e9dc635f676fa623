import { statSync } from 'node:fs'
import type { AuthorizerEnvironment } from '@krmkit/apiserver'
import {
  type AuthorizationConfiguration,
  type AuthorizationWebhook,
  type Authorizer,
  alwaysAllow,
  alwaysDeny,
  composeAuthorizers,
  createReplaceableAuthorizer,
  createWebhookAuthorizer,
  type MatchConditionCompiler,
  parseAuthorizationConfiguration,
  type ReplaceableAuthorizer,
  validateAuthorizationConfiguration,
  validateAuthorizerNames,
} from '@krmkit/authorization'
import { type ConnectionOptions, loadKubeconfig } from '@krmkit/client'
import { type Clock, formatFieldErrors, type NamingProfile, type Random } from '@krmkit/meta'
import { reviewConditions } from '../../expressions/review-conditions.ts'
import { type RemoteFetch, remoteFetch } from '../authentication/remote-fetch.ts'
import { followConfiguration, parsedConfiguration } from '../configuration-file.ts'
import { inClusterConnection } from './in-cluster.ts'
import type { AuthorizationMode } from './options.ts'

/** Authorizers as a file says, which may change while the server runs. */
export interface ConfiguredAuthorization extends AsyncDisposable {
  /** Types that the file names. */
  readonly modes: readonly AuthorizationMode[]
  authorizer(parts: AuthorizerEnvironment): Promise<Authorizer>
}

export interface ConfiguredEnvironment {
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  readonly onError: (error: unknown) => void
  readonly onReload: (flag: string) => void
  /** Reads the policies of type ABAC. */
  readonly abac: () => Promise<Authorizer>
}

/** What the stock server has. */
const types = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'] as const
const flag = 'authorization-config'

/** @throws CliError for a file that cannot be used. */
export async function configuredAuthorization(
  path: string,
  environment: ConfiguredEnvironment,
): Promise<ConfiguredAuthorization> {
  const conditions = await reviewConditions()
  let required: readonly string[] = []
  let newest: AuthorizationConfiguration | undefined
  let put: ((next: AuthorizationConfiguration) => Promise<void>) | undefined
  const file = await followConfiguration(path, {
    ...environment,
    flag,
    onApplied: () => environment.onReload(flag),
    read: (text) => judged(text, { conditions, profile: environment.profile, required }),
    apply: async (next) => {
      newest = next
      await put?.(next)
    },
  })
  const initial = file.first
  newest = initial
  // What follows objects is there from the start or never.
  required = [...new Set(initial.authorizers.map(({ type }) => type).filter((type) => type !== 'Webhook'))]
  const webhooks = new Webhooks(environment)
  return {
    modes: [...new Set(initial.authorizers.map(({ type }) => type as AuthorizationMode))],
    async authorizer(parts) {
      const byType = await authorizersOf(required, { parts, abac: environment.abac })
      const compose = async (configuration: AuthorizationConfiguration) => {
        const reached = await webhooks.reach(configuration)
        try {
          const composed = composeAuthorizers(configuration, { byType, conditions, webhook: reached.webhook })
          await webhooks.keep(reached.remotes)
          return composed
        } catch (error) {
          await dispose(reached.remotes)
          throw error
        }
      }
      const current: ReplaceableAuthorizer = createReplaceableAuthorizer(await compose(newest ?? initial))
      put = async (next) => current.replace(await compose(next))
      return current
    },
    async [Symbol.asyncDispose]() {
      file[Symbol.dispose]()
      await webhooks[Symbol.asyncDispose]()
    },
  }
}

/** @throws Error with everything that is wrong. */
function judged(
  text: string,
  options: {
    readonly conditions: MatchConditionCompiler
    readonly profile: Pick<NamingProfile, 'apiDomain'>
    readonly required: readonly string[]
  },
): AuthorizationConfiguration {
  const { conditions, profile, required } = options
  const { value, repeated } = parsedConfiguration(text)
  // An empty file is an empty configuration.
  const configuration =
    text === '' ? { authorizers: [] } : parseAuthorizationConfiguration(value, { repeated, apiDomain: profile.apiDomain })
  const errors = validateAuthorizationConfiguration(configuration, { types, conditions, fileProblem })
  if (errors.length > 0) throw new Error(formatFieldErrors(errors))
  const problems = validateAuthorizerNames(configuration, { required })
  if (problems.length > 0) throw new Error(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`)
  return configuration
}

function fileProblem(path: string): string | undefined {
  try {
    return statSync(path).isFile() ? undefined : 'must be a regular file'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return `error loading file: stat ${path}: ${code === 'ENOENT' ? 'no such file or directory' : String(code)}`
  }
}

async function authorizersOf(
  chosen: readonly string[],
  { parts, abac }: { readonly parts: AuthorizerEnvironment; readonly abac: () => Promise<Authorizer> },
): Promise<ReadonlyMap<string, Authorizer>> {
  const made = new Map<string, Authorizer>([
    ['AlwaysAllow', alwaysAllow],
    ['AlwaysDeny', alwaysDeny],
  ])
  if (chosen.includes('RBAC')) made.set('RBAC', await parts.rbac())
  if (chosen.includes('Node')) made.set('Node', await parts.nodes())
  if (chosen.includes('ABAC')) made.set('ABAC', await abac())
  return made
}

/** Connections to webhooks. Those of the configuration before are closed when the next one comes: requests may be under way. */
class Webhooks implements AsyncDisposable {
  readonly #environment: ConfiguredEnvironment
  #current: readonly RemoteFetch[] = []
  #former: readonly RemoteFetch[] = []

  constructor(environment: ConfiguredEnvironment) {
    this.#environment = environment
  }

  /** Reads how to reach those of a configuration. @throws ClientError for a kubeconfig that cannot be used. */
  async reach({ authorizers }: AuthorizationConfiguration) {
    const connections = new Map<AuthorizationWebhook, ConnectionOptions>()
    for (const { webhook } of authorizers) if (webhook !== undefined) connections.set(webhook, await connectionOf(webhook))
    const remotes: RemoteFetch[] = []
    const webhook = (configured: AuthorizationWebhook, name: string): Authorizer => {
      const connection = connections.get(configured)!
      const remote = remoteFetch(connection)
      remotes.push(remote)
      const { onError } = this.#environment
      return createWebhookAuthorizer({
        ...this.#environment,
        onError: (error) => onError(new Error(`authorizer ${name}`, { cause: error })),
        url: connection.server,
        fetch: remote.fetch,
        version: configured.subjectAccessReviewVersion === 'v1beta1' ? 'v1beta1' : 'v1',
        authorizedMs: configured.authorizedMs,
        unauthorizedMs: configured.unauthorizedMs,
        timeoutMs: configured.timeoutMs,
        onFailure: configured.failurePolicy === 'Deny' ? 'deny' : 'noOpinion',
      })
    }
    return { remotes, webhook }
  }

  /** These are in use from now on. */
  async keep(remotes: readonly RemoteFetch[]): Promise<void> {
    const retired = this.#former
    this.#former = this.#current
    this.#current = remotes
    await dispose(retired)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await dispose([...this.#former, ...this.#current])
  }
}

async function dispose(remotes: readonly RemoteFetch[]): Promise<void> {
  await Promise.all(remotes.map((one) => one[Symbol.asyncDispose]()))
}

async function connectionOf({ connection }: AuthorizationWebhook): Promise<ConnectionOptions> {
  const { type, kubeConfigFile = '' } = connection
  return type === 'InClusterConfig' ? inClusterConnection() : loadKubeconfig({ path: kubeConfigFile })
}
