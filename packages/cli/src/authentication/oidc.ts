import { AuthenticationError, createOidcAuthenticator, type OidcAuthenticator } from '@krmkit/authentication'
import type { Clock } from '@krmkit/meta'
import { CliError } from '../cli-error.ts'
import { createRemoteFetch } from '../remote-fetch.ts'
import { readAuthorities } from './certificate-bundles.ts'
import type { AuthenticationOptions } from './options.ts'

/** Creates the authenticator of the OpenID flags; undefined without `--oidc-issuer-url`. Discovery starts in the background. */
export async function openOidcAuthenticator(
  options: AuthenticationOptions,
  { clock, onError }: { readonly clock: Clock; readonly onError: (error: unknown) => void },
): Promise<({ readonly tokens: OidcAuthenticator } & AsyncDisposable) | undefined> {
  const { oidcIssuerUrl, oidcClientId, oidcCaFile, oidcSigningAlgs } = options
  if ((oidcIssuerUrl === undefined) !== (oidcClientId === undefined))
    throw new CliError({ code: 'InvalidFlag', message: '--oidc-issuer-url and --oidc-client-id go together' })
  if (oidcIssuerUrl === undefined || oidcClientId === undefined) return undefined
  const remote = createRemoteFetch(oidcCaFile === undefined ? {} : { ca: await readAuthorities(oidcCaFile, 'oidc-ca-file') })
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
