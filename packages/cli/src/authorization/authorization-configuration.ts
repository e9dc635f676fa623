import { statSync } from 'node:fs'
import type { AuthorizerEnvironment } from '@krmkit/apiserver'
import {
  type AuthorizationMetrics,
  type Authorizer,
  alwaysAllowAuthorizer,
  alwaysDenyAuthorizer,
  createWebhookAuthorizer,
} from '@krmkit/authorization'
import {
  type AuthorizationConfiguration,
  type AuthorizationWebhook,
  composeAuthorizers,
  createReplaceableAuthorizer,
  type MatchConditionCompiler,
  parseAuthorizationConfiguration,
  type ReplaceableAuthorizer,
  validateAuthorizationConfiguration,
  validateAuthorizerNames,
} from '@krmkit/authorization/configuration'
import { type ConnectionOptions, loadKubeconfig } from '@krmkit/client'
import type { Clock, Features, NamingProfile, Random } from '@krmkit/meta'
import { aggregateMessages } from '@krmkit/meta/go-text'
import { formatFieldErrors } from '@krmkit/meta/validation'
import { reviewConditions } from 'krmkit'
import { createRemoteFetch, type RemoteFetch } from '../remote-fetch.ts'
import { parseConfigurationText, watchConfiguration } from '../watched-configuration.ts'
import { inClusterConnection } from './in-cluster.ts'
import type { AuthorizationMode } from './options.ts'

/** The authorizers of an AuthorizationConfiguration, reloaded when the file changes. */
export interface ConfiguredAuthorization extends AsyncDisposable {
  /** Authorizer types of the file. */
  readonly modes: readonly AuthorizationMode[]
  authorizer(parts: AuthorizerEnvironment): Promise<Authorizer>
}

export interface ConfiguredEnvironment {
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  readonly features: Features
  readonly onError: (error: unknown) => void
  readonly onReload: (flag: string) => void
  /** Creates the authorizer of type ABAC. */
  readonly abac: () => Promise<Authorizer>
}

/** Authorizer types of kube-apiserver. */
const types = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'] as const
const flag = 'authorization-config'

/** Reads and watches the file. @throws CliError for an invalid file. */
export async function createConfiguredAuthorization(
  path: string,
  environment: ConfiguredEnvironment,
): Promise<ConfiguredAuthorization> {
  const conditions = await reviewConditions()
  let required: readonly string[] = []
  let newest: AuthorizationConfiguration | undefined
  let metrics: AuthorizationMetrics | undefined
  let put: ((next: AuthorizationConfiguration) => Promise<void>) | undefined
  const file = await watchConfiguration(path, {
    ...environment,
    flag,
    onApplied() {
      metrics?.reloaded('success', environment.clock.now())
      environment.onReload(flag)
    },
    onError(error) {
      metrics?.reloaded('failure', environment.clock.now())
      environment.onError(error)
    },
    read: (text) => parseConfiguration(text, { conditions, profile: environment.profile, required }),
    apply: async (next) => {
      newest = next
      await put?.(next)
    },
  })
  const initial = file.first
  newest = initial
  // Authorizers that watch objects start with the server, so a reload can neither add nor remove them.
  required = [...new Set(initial.authorizers.map(({ type }) => type).filter((type) => type !== 'Webhook'))]
  const webhooks = new WebhookConnections(environment)
  return {
    modes: [...new Set(initial.authorizers.map(({ type }) => type as AuthorizationMode))],
    async authorizer(parts) {
      metrics = parts.metrics
      const byType = await authorizersOf(required, { parts, abac: environment.abac })
      const compose = async (configuration: AuthorizationConfiguration) => {
        const reached = await webhooks.reach(configuration, parts.metrics)
        try {
          const composed = composeAuthorizers(configuration, {
            byType,
            conditions,
            webhook: reached.webhook,
            metrics: parts.metrics,
            namesReasons: environment.features.release.atLeast('1.37'),
          })
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

/** @throws Error with all problems in the message. */
function parseConfiguration(
  text: string,
  options: {
    readonly conditions: MatchConditionCompiler
    readonly profile: Pick<NamingProfile, 'apiDomain'>
    readonly required: readonly string[]
  },
): AuthorizationConfiguration {
  const { conditions, profile, required } = options
  const { value, repeated } = parseConfigurationText(text)
  // An empty file is an empty configuration.
  const configuration =
    text === '' ? { authorizers: [] } : parseAuthorizationConfiguration(value, { repeated, apiDomain: profile.apiDomain })
  const errors = validateAuthorizationConfiguration(configuration, { types, conditions, fileProblem })
  if (errors.length > 0) throw new Error(formatFieldErrors(errors))
  const problems = validateAuthorizerNames(configuration, { required })
  if (problems.length > 0) throw new Error(aggregateMessages(problems))
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
  const authorizers = new Map<string, Authorizer>([
    ['AlwaysAllow', alwaysAllowAuthorizer],
    ['AlwaysDeny', alwaysDenyAuthorizer],
  ])
  if (chosen.includes('RBAC')) authorizers.set('RBAC', await parts.rbac())
  if (chosen.includes('Node')) authorizers.set('Node', await parts.nodes())
  if (chosen.includes('ABAC')) authorizers.set('ABAC', await abac())
  return authorizers
}

/** Connections to webhooks. The connections of a replaced configuration stay open for one more reload, for requests in flight. */
class WebhookConnections implements AsyncDisposable {
  readonly #environment: ConfiguredEnvironment
  #current: readonly RemoteFetch[] = []
  #former: readonly RemoteFetch[] = []

  constructor(environment: ConfiguredEnvironment) {
    this.#environment = environment
  }

  /** Connects the webhooks of a configuration. @throws ClientError for an invalid kubeconfig. */
  async reach({ authorizers }: AuthorizationConfiguration, metrics: AuthorizationMetrics) {
    const connections = new Map<AuthorizationWebhook, ConnectionOptions>()
    for (const { webhook } of authorizers) if (webhook !== undefined) connections.set(webhook, await connectionOf(webhook))
    const remotes: RemoteFetch[] = []
    const webhook = (configured: AuthorizationWebhook, name: string): Authorizer => {
      const connection = connections.get(configured)!
      const remote = createRemoteFetch(connection)
      remotes.push(remote)
      const { onError } = this.#environment
      return createWebhookAuthorizer({
        ...this.#environment,
        onError: (error) => onError(new Error(`authorizer ${name}`, { cause: error })),
        metrics,
        name,
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

  /** Makes the connections current and disposes those of the last but one configuration. */
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
