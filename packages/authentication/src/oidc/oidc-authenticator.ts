import { requireMethod } from '../arguments.ts'
import { AuthenticationError } from '../authentication-error.ts'
import { signingAlgorithms } from '../jwt.ts'
import { createClaimMapping, type OidcClaimOptions } from './claim-mapping.ts'
import { createIssuerAuthenticator, type IssuerConnection, type OidcAuthenticator } from './issuer-authenticator.ts'

/** Options for one OpenID provider; each member corresponds to an `--oidc-*` flag. @see API protocol specification, 5.2 */
export interface OidcOptions extends OidcClaimOptions, IssuerConnection {
  /** https URL of the issuer, exactly as in the claim `iss`. */
  readonly issuerUrl: string
  /** Client id that must be among the audiences of every token. */
  readonly clientId: string
  /** Accepted values of the claim `azp`. Absent: any, at the discretion of the provider. */
  readonly authorizedParties?: readonly string[]
  /** Accepted signing algorithms, asymmetric only. Default `RS256`. */
  readonly signingAlgorithms?: readonly string[]
}

/**
 * Authenticates the ID tokens of one OpenID provider. Has no opinion on tokens of other issuers and on text that is not a
 * token. The groups claim may be a distributed claim.
 *
 * @throws AuthenticationError `InvalidOidc` when an option is invalid.
 * @see API protocol specification, 5.2
 * @example
 * ```ts
 * import { createOidcAuthenticator } from '@krmkit/authentication'
 * import { createFakeOidcProvider } from '@krmkit/authentication/testing'
 * import { systemClock as clock } from '@krmkit/meta'
 *
 * const { issuerUrl, clientId, fetch, token } = createFakeOidcProvider({ clock })
 * const tokens = createOidcAuthenticator({ issuerUrl, clientId, fetch, clock })
 * await tokens.authenticateToken(token({ claims: { sub: 'jane' } })) // user: { username: 'https://issuer.test#jane', groups: [] }
 * ```
 */
export function createOidcAuthenticator(options: OidcOptions): OidcAuthenticator {
  requireMethod('createOidcAuthenticator: `clock`', (options as OidcOptions | undefined)?.clock, 'now')
  const { signingAlgorithms: algorithms = ['RS256'], clientId, groupsClaim } = options
  validateOptions(options, algorithms)
  const mapping = createClaimMapping(options)
  return createIssuerAuthenticator({ ...options, audiences: [clientId], algorithms, mapping, distributedClaim: groupsClaim })
}

function validateOptions({ issuerUrl, clientId }: OidcOptions, algorithms: readonly string[]): void {
  const invalid = (message: string) => new AuthenticationError({ code: 'InvalidOidc', message: `oidc: ${message}` })
  const url = URL.canParse(issuerUrl) ? new URL(issuerUrl) : undefined
  if (url?.protocol !== 'https:' || url.search !== '' || url.hash !== '' || url.username !== '')
    throw invalid('the issuer must be an https URL without query, fragment and user')
  if (typeof clientId !== 'string' || clientId === '') throw invalid('a client id is required')
  if (algorithms.length === 0) throw invalid('at least one signing algorithm is required')
  const unknown = algorithms.find((algorithm) => !signingAlgorithms.includes(algorithm))
  if (unknown !== undefined)
    throw invalid(`the algorithm ${JSON.stringify(unknown)} is not one of ${signingAlgorithms.join(', ')}`)
}
