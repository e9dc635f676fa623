import type { Clock } from '@krmkit/meta'
import { AuthenticationError } from './authentication-error.ts'
import type { Fetch } from './fetch.ts'
import type { AuthenticationOutcome, TokenAuthenticator } from './interfaces.ts'
import { type Claims, isSignedBy, readToken, signingAlgorithms } from './jwt.ts'
import { type ClaimMapping, claimMapping, type OidcClaimOptions } from './oidc-claims.ts'
import { OidcKeys } from './oidc-keys.ts'
import { transientRejection } from './token-cache.ts'
import { audiencesIn, endOf, flawOfTimes } from './token-times.ts'

/** What of an OpenID provider is believed; every member is a flag of the API protocol specification, 5.2. */
export interface OidcOptions extends OidcClaimOptions {
  /** https URL of the one issuer that is trusted, exactly as its tokens name it. */
  readonly issuerUrl: string
  /** Client that all tokens must be issued for: one of their audiences. */
  readonly clientId: string
  /** Clients that may ask for tokens in the name of `clientId`, by claim `azp`. Absent: any, that is for the provider to say. */
  readonly authorizedParties?: readonly string[]
  /** Algorithms that tokens may be signed with; asymmetric ones alone. Default `RS256`. */
  readonly signingAlgorithms?: readonly string[]
  /** How to reach the issuer. Trusting its certificate is the fetch's business. */
  readonly fetch: Fetch
  readonly clock: Clock
  /** Longest wait for one answer of the issuer, in milliseconds. Default 10 000. */
  readonly timeoutMs?: number
  /** Least time between two fetches of keys, in milliseconds. Default 10 000. */
  readonly cooldownMs?: number
  /** Age at which keys are fetched again, in milliseconds. Default 10 minutes. */
  readonly maxAgeMs?: number
  /** Told why the issuer could not be asked. */
  readonly onError?: (error: unknown) => void
}

/** Knows tokens of an OpenID provider. */
export interface OidcAuthenticator extends TokenAuthenticator {
  /** Discovers the issuer in advance; failures go to `onError`, and are tried again when a token comes. */
  prepare(): Promise<void>
}

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }
const rejected = (reason: string): AuthenticationOutcome => ({ kind: 'rejected', reason: `oidc: ${reason}` })

/**
 * Knows the ID tokens of one OpenID provider. Tokens of other issuers, and what is no token, are left to others.
 *
 * @throws AuthenticationError `InvalidOidc` when the settings cannot be used.
 * @see API protocol specification, 5.2
 */
export function oidcTokens(options: OidcOptions): OidcAuthenticator {
  const { issuerUrl, clock, signingAlgorithms: algorithms = ['RS256'] } = options
  check(options, algorithms)
  const mapping = claimMapping(options)
  const keys = new OidcKeys({
    issuer: issuerUrl,
    algorithms,
    fetch: options.fetch,
    clock,
    timeoutMs: options.timeoutMs ?? 10_000,
    cooldownMs: options.cooldownMs ?? 10_000,
    maxAgeMs: options.maxAgeMs ?? 600_000,
    onError: options.onError ?? (() => undefined),
  })
  const judge = async (token: string): Promise<AuthenticationOutcome> => {
    const read = readToken(token)!
    const { algorithm, keyId, claims } = read
    if (!algorithms.includes(algorithm)) return rejected('the token is signed with an algorithm that is not allowed')
    // What no signature can mend is refused first: it costs no fetch.
    const flaw = flawOfTimes(claims, clock.now(), { what: 'token' }) ?? flawOfAudience(claims, options)
    if (flaw !== undefined) return rejected(flaw)
    const found = await keys.find(keyId, algorithm)
    if (found.kind === 'unavailable') return transientRejection('oidc: the keys of the issuer are not known yet')
    for (const key of found.keys) if (await isSignedBy(token, key)) return identify(claims, mapping)
    for (const key of await keys.renewed(keyId, algorithm)) if (await isSignedBy(token, key)) return identify(claims, mapping)
    return transientRejection('oidc: no key of the issuer has signed the token')
  }
  return {
    authenticateToken: (token) => (readToken(token)?.claims.iss === issuerUrl ? judge(token) : noOpinion),
    prepare: () => keys.prepare(),
  }
}

function identify(claims: Claims, mapping: ClaimMapping): AuthenticationOutcome {
  const mapped = mapping(claims)
  if (!mapped.ok) return rejected(mapped.reason)
  return { kind: 'authenticated', user: mapped.user, expiresAt: endOf(claims) }
}

function flawOfAudience(
  claims: Claims,
  options: { readonly clientId: string; readonly authorizedParties?: readonly string[] },
): string | undefined {
  if (!audiencesIn(claims).includes(options.clientId)) return 'the token is for another client'
  const { azp } = claims
  const { authorizedParties } = options
  if (azp === undefined || authorizedParties === undefined || azp === options.clientId) return undefined
  return typeof azp === 'string' && authorizedParties.includes(azp) ? undefined : 'the party of the token is not authorized'
}

function check({ issuerUrl, clientId }: OidcOptions, algorithms: readonly string[]): void {
  const wrong = (message: string) => new AuthenticationError({ code: 'InvalidOidc', message: `oidc: ${message}` })
  const url = URL.canParse(issuerUrl) ? new URL(issuerUrl) : undefined
  if (url?.protocol !== 'https:' || url.search !== '' || url.hash !== '' || url.username !== '')
    throw wrong('the issuer must be an https URL without query, fragment and user')
  if (clientId === '') throw wrong('a client id is needed')
  if (algorithms.length === 0) throw wrong('at least one signing algorithm is needed')
  const unknown = algorithms.find((algorithm) => !signingAlgorithms.includes(algorithm))
  if (unknown !== undefined) throw wrong(`the algorithm ${JSON.stringify(unknown)} is not one of ${signingAlgorithms.join(', ')}`)
}
