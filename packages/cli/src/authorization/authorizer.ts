import type { AuthorizerEnvironment, AuthorizerFactory } from '@krmkit/apiserver'
import {
  type AuthorizationMetrics,
  type Authorizer,
  alwaysAllowAuthorizer,
  alwaysDenyAuthorizer,
  createAbacAuthorizer,
  createInstrumentedAuthorizer,
  createPrivilegedGroupsAuthorizer,
  createUnionAuthorizer,
  createWebhookAuthorizer,
  nameOfMode,
  parseAbacPolicies,
  systemMasters,
} from '@krmkit/authorization'
import { loadKubeconfig } from '@krmkit/client'
import type { Clock, Features, NamingProfile, Random } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { CliError, messageOf } from '../cli-error.ts'
import { readText } from '../files.ts'
import { createRemoteFetch, type RemoteFetch } from '../remote-fetch.ts'
import type { AuthorizationMode, AuthorizationOptions } from './options.ts'

/** The authorization that the flags configure. */
export interface Authorization extends AsyncDisposable {
  readonly authorizer: AuthorizerFactory
  /** Whether the server creates the bootstrap roles and bindings. */
  readonly bootstrapRoles: boolean
  /** Configured modes. */
  readonly modes: readonly AuthorizationMode[]
}

interface Environment {
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  readonly features: Features
  readonly onError: (error: unknown) => void
  /** Called after a file was reloaded. */
  readonly onReload?: (flag: string) => void
}

type AuthorizerFactoryOfMode = (environment: AuthorizerEnvironment) => Authorizer | Promise<Authorizer>

/** @throws CliError for flags that contradict each other and files that cannot be used. */
export async function createAuthorization(
  options: AuthorizationOptions & { readonly explicit?: readonly string[] },
  environment: Environment,
): Promise<Authorization> {
  const { authorizationMode: modes, authorizationConfig } = options
  if (authorizationConfig !== undefined) return createFromConfiguration(authorizationConfig, { options, environment })
  refuseUnused(options)
  const remote = modes.includes('Webhook') ? await createWebhook(options, environment) : undefined
  const abac = modes.includes('ABAC') ? await createAbac(options, environment) : undefined
  const makers: Readonly<Record<AuthorizationMode, AuthorizerFactoryOfMode>> = {
    Node: ({ nodes }) => nodes(),
    RBAC: ({ rbac }) => rbac(),
    Webhook: ({ metrics }) => remote?.authorizer(metrics) ?? alwaysDenyAuthorizer,
    ABAC: () => abac ?? alwaysDenyAuthorizer,
    AlwaysAllow: () => alwaysAllowAuthorizer,
    AlwaysDeny: () => alwaysDenyAuthorizer,
    SystemMasters: () => systemMasters,
  }
  return {
    modes,
    bootstrapRoles: modes.includes('RBAC'),
    async authorizer(parts) {
      const chosen: Authorizer[] = []
      const names: string[] = []
      // Group system:masters is always allowed, so that broken roles can be repaired.
      if (!modes.every((mode) => mode === 'AlwaysAllow' || mode === 'SystemMasters')) {
        chosen.push(createPrivilegedGroupsAuthorizer())
        names.push('kubernetes.io/system-privileged-group')
      }
      const { metrics } = parts
      for (const mode of modes) {
        const authorizer = await makers[mode](parts)
        const options = { type: mode, name: nameOfMode(mode), metrics }
        names.push(options.name)
        chosen.push(mode === 'SystemMasters' ? authorizer : createInstrumentedAuthorizer(authorizer, options))
      }
      const isNamed = environment.features.release.atLeast('1.37')
      return chosen.length === 1 ? chosen[0]! : createUnionAuthorizer(chosen, isNamed ? names : undefined)
    },
    [Symbol.asyncDispose]: async () => remote?.fetch[Symbol.asyncDispose](),
  }
}

async function createFromConfiguration(
  path: string,
  given: {
    readonly options: AuthorizationOptions & { readonly explicit?: readonly string[] }
    readonly environment: Environment
  },
): Promise<Authorization> {
  const { options, environment } = given
  const { explicit = [], authorizationPolicyFile } = options
  if (!gateEnabled('StructuredAuthorizationConfiguration', environment.features)) {
    const message = '--authorization-config cannot be used without enabling StructuredAuthorizationConfiguration feature flag'
    throw new CliError({ code: 'InvalidFlag', message })
  }
  if (explicit.some((name) => name === 'authorizationMode' || name.startsWith('authorizationWebhook'))) {
    const message =
      '--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined'
    throw new CliError({ code: 'InvalidFlag', message })
  }
  const { createConfiguredAuthorization: configuredAuthorization } = await import('./authorization-configuration.ts')
  const configured = await configuredAuthorization(path, {
    ...environment,
    onReload: environment.onReload ?? (() => undefined),
    abac: async () => createAbac(options, environment),
  })
  if (configured.modes.includes('ABAC') !== (authorizationPolicyFile !== undefined)) {
    await configured[Symbol.asyncDispose]()
    const message = 'an authorizer of type ABAC and --authorization-policy-file go together'
    throw new CliError({ code: 'InvalidFlag', message })
  }
  return {
    modes: configured.modes,
    bootstrapRoles: configured.modes.includes('RBAC'),
    authorizer: (parts) => configured.authorizer(parts),
    [Symbol.asyncDispose]: () => configured[Symbol.asyncDispose](),
  }
}

function refuseUnused(options: AuthorizationOptions): void {
  const { authorizationMode: modes, authorizationPolicyFile, authorizationWebhookConfigFile } = options
  const pairs = [
    ['ABAC', 'authorization-policy-file', authorizationPolicyFile],
    ['Webhook', 'authorization-webhook-config-file', authorizationWebhookConfigFile],
  ] as const
  for (const [mode, flag, value] of pairs) {
    if (modes.includes(mode) === (value !== undefined)) continue
    const message = `--authorization-mode=${mode} and --${flag} go together`
    throw new CliError({ code: 'InvalidFlag', message })
  }
}

async function createAbac({ authorizationPolicyFile = '' }: AuthorizationOptions, { profile }: Environment): Promise<Authorizer> {
  const text = await readText(authorizationPolicyFile, 'authorization-policy-file')
  try {
    return createAbacAuthorizer(parseAbacPolicies(text, profile))
  } catch (cause) {
    throw unusable('authorization-policy-file', cause)
  }
}

async function createWebhook(
  options: AuthorizationOptions,
  environment: Environment,
): Promise<{ readonly authorizer: (metrics: AuthorizationMetrics) => Authorizer; readonly fetch: RemoteFetch }> {
  const path = options.authorizationWebhookConfigFile ?? ''
  try {
    const connection = await loadKubeconfig({ path })
    const fetch = createRemoteFetch(connection)
    const authorizer = (metrics: AuthorizationMetrics) =>
      createWebhookAuthorizer({
        ...environment,
        metrics,
        url: connection.server,
        fetch: fetch.fetch,
        version: options.authorizationWebhookVersion,
        authorizedMs: options.authorizationWebhookCacheAuthorizedTtl,
        unauthorizedMs: options.authorizationWebhookCacheUnauthorizedTtl,
      })
    return { authorizer, fetch }
  } catch (cause) {
    throw unusable('authorization-webhook-config-file', cause)
  }
}

function unusable(flag: string, cause: unknown): CliError {
  const why = messageOf(cause)
  return new CliError({ code: 'FileFailed', message: `--${flag}: ${why}`, cause })
}
