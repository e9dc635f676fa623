import {
  createCachedTokenAuthenticator,
  createWebhookTokenAuthenticator,
  type TokenAuthenticator,
  withConcurrencyLimit,
} from '@krmkit/authentication'
import { loadKubeconfig } from '@krmkit/client'
import type { Clock, NamingProfile, Random } from '@krmkit/meta'
import { CliError } from '../cli-error.ts'
import type { AuthenticationOptions } from './options.ts'
import { remoteFetch } from './remote-fetch.ts'

/** The webhook that knows tokens, with the answers it gave kept for a while; undefined when the flags name none. */
export async function webhookOf(
  options: AuthenticationOptions,
  environment: {
    readonly clock: Clock
    readonly random: Random
    readonly profile: NamingProfile
    readonly audiences: readonly string[]
    readonly onError: (error: unknown) => void
  },
): Promise<({ readonly tokens: TokenAuthenticator } & AsyncDisposable) | undefined> {
  const path = options.authenticationTokenWebhookConfigFile
  if (path === undefined) return undefined
  const connection = await connectionOf(path)
  const remote = remoteFetch(connection)
  const successMs = options.authenticationTokenWebhookCacheTtl
  const reviewed = createWebhookTokenAuthenticator({
    ...environment,
    url: connection.server,
    version: options.authenticationTokenWebhookVersion,
    fetch: remote.fetch,
  })
  const failureMs = options.authenticationTokenWebhookFailureCacheTtl ?? successMs
  return {
    tokens: createCachedTokenAuthenticator(withConcurrencyLimit(reviewed), { ...environment, successMs, failureMs }),
    [Symbol.asyncDispose]: () => remote[Symbol.asyncDispose](),
  }
}

async function connectionOf(path: string) {
  try {
    return await loadKubeconfig({ path })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CliError({ code: 'FileFailed', message: `--authentication-token-webhook-config-file: ${why}`, cause })
  }
}
