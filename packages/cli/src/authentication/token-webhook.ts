import {
  createCachedTokenAuthenticator,
  createWebhookTokenAuthenticator,
  type TokenAuthenticator,
  withConcurrencyLimit,
} from '@krmkit/authentication'
import type { Clock, Features, NamingProfile, Random } from '@krmkit/meta'

import { createRemoteFetch, readKubeconfigFlag } from '../remote-fetch.ts'
import type { AuthenticationOptions } from './options.ts'

/** Creates the token webhook authenticator with its cache; undefined without `--authentication-token-webhook-config-file`. */
export async function createTokenWebhook(
  options: AuthenticationOptions,
  environment: {
    readonly clock: Clock
    readonly random: Random
    readonly profile: NamingProfile
    readonly features: Features
    readonly audiences: readonly string[]
    readonly onError: (error: unknown) => void
  },
): Promise<({ readonly tokens: TokenAuthenticator } & AsyncDisposable) | undefined> {
  const path = options.authenticationTokenWebhookConfigFile
  if (path === undefined) return undefined
  const connection = await readKubeconfigFlag(path, 'authentication-token-webhook-config-file')
  const remote = createRemoteFetch(connection)
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
