import { AuthenticationError } from '../authentication-error.ts'
import { signingAlgorithms } from '../jwt.ts'
import { createClaimMapping, type OidcClaimOptions } from './claim-mapping.ts'
import { createIssuerAuthenticator, type IssuerConnection, type OidcAuthenticator } from './issuer-authenticator.ts'

/** What of an OpenID provider is believed; every member is a flag of the API protocol specification, 5.2. */
export interface OidcOptions extends OidcClaimOptions, IssuerConnection {
  /** https URL of the one issuer that is trusted, exactly as its tokens name it. */
  readonly issuerUrl: string
  /** Client that all tokens must be issued for: one of their audiences. */
  readonly clientId: string
  /** Clients that may ask for tokens in the name of `clientId`, by claim `azp`. Absent: any, that is for the provider to say. */
  readonly authorizedParties?: readonly string[]
  /** Algorithms that tokens may be signed with; asymmetric ones alone. Default `RS256`. */
  readonly signingAlgorithms?: readonly string[]
}

/**
 * Knows the ID tokens of one OpenID provider. Tokens of other issuers, and what is no token, are left to others. Groups may be
 * told by another source that a token names.
 *
 * @throws AuthenticationError `InvalidOidc` when the settings cannot be used.
 * @see API protocol specification, 5.2
 */
export function createOidcAuthenticator(options: OidcOptions): OidcAuthenticator {
  const { signingAlgorithms: algorithms = ['RS256'], clientId, groupsClaim } = options
  validateOptions(options, algorithms)
  const mapping = createClaimMapping(options)
  return createIssuerAuthenticator({ ...options, audiences: [clientId], algorithms, mapping, distributedClaim: groupsClaim })
}

function validateOptions({ issuerUrl, clientId }: OidcOptions, algorithms: readonly string[]): void {
  const wrong = (message: string) => new AuthenticationError({ code: 'InvalidOidc', message: `oidc: ${message}` })
  const url = URL.canParse(issuerUrl) ? new URL(issuerUrl) : undefined
  if (url?.protocol !== 'https:' || url.search !== '' || url.hash !== '' || url.username !== '')
    throw wrong('the issuer must be an https URL without query, fragment and user')
  if (clientId === '') throw wrong('a client id is needed')
  if (algorithms.length === 0) throw wrong('at least one signing algorithm is needed')
  const unknown = algorithms.find((algorithm) => !signingAlgorithms.includes(algorithm))
  if (unknown !== undefined) throw wrong(`the algorithm ${JSON.stringify(unknown)} is not one of ${signingAlgorithms.join(', ')}`)
}
