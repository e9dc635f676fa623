import { AuthenticationError, createOidcAuthenticator, type OidcAuthenticator } from '@krmkit/authentication'
import type { Clock } from '@krmkit/meta'
import { CliError } from '../cli-error.ts'
import { readAuthorities } from './certificate-bundles.ts'
import type { AuthenticationOptions } from './options.ts'
import { remoteFetch } from './remote-fetch.ts'

/** The OpenID provider that the flags name; undefined when they name none. Discovery begins at once, and is not waited for. */
export async function oidcOf(
  options: AuthenticationOptions,
  { clock, onError }: { readonly clock: Clock; readonly onError: (error: unknown) => void },
): Promise<({ readonly tokens: OidcAuthenticator } & AsyncDisposable) | undefined> {
  const { oidcIssuerUrl, oidcClientId, oidcCaFile, oidcSigningAlgs } = options
  if ((oidcIssuerUrl === undefined) !== (oidcClientId === undefined))
    throw new CliError({ code: 'InvalidFlag', message: '--oidc-issuer-url and --oidc-client-id go together' })
  if (oidcIssuerUrl === undefined || oidcClientId === undefined) return undefined
  const remote = remoteFetch(oidcCaFile === undefined ? {} : { ca: await readAuthorities(oidcCaFile, 'oidc-ca-file') })
  try {
    const tokens = createOidcAuthenticator({
      issuerUrl: oidcIssuerUrl,
      clientId: oidcClientId,
      usernameClaim: options.oidcUsernameClaim,
      requiredClaims: options.oidcRequiredClaim,
      ...(options.oidcUsernamePrefix === undefined ? {} : { usernamePrefix: options.oidcUsernamePrefix }),
      ...(options.oidcGroupsClaim === undefined ? {} : { groupsClaim: options.oidcGroupsClaim }),
      ...(options.oidcGroupsPrefix === undefined ? {} : { groupsPrefix: options.oidcGroupsPrefix }),
      ...(oidcSigningAlgs.length === 0 ? {} : { signingAlgorithms: oidcSigningAlgs }),
      fetch: remote.fetch,
      clock,
      onError,
    })
    void tokens.prepare()
    return { tokens, [Symbol.asyncDispose]: () => remote[Symbol.asyncDispose]() }
  } catch (error) {
    if (error instanceof AuthenticationError) throw new CliError({ code: 'InvalidFlag', message: error.message, cause: error })
    throw error
  }
}
