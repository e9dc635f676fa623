import type { Fetch } from '@krmkit/base/fetch'
import type { Clock } from '@krmkit/meta'
import type { AuthenticationOutcome, TokenAuthenticator } from '../interfaces.ts'
import { type Claims, decodeToken, isSignedBy } from '../jwt.ts'
import { transientRejection } from '../token-cache.ts'
import { audiencesFromClaims, issuerSkew, tokenEnd, tokenTimeProblem } from '../token-times.ts'
import type { ClaimMapping } from './claim-mapping.ts'
import { LimitedIssuerKeys } from './concurrency-limit.ts'
import { DistributedClaims } from './distributed-claims.ts'

/** Options for connecting to an issuer. */
export interface IssuerConnection {
  /** Sends the requests to the issuer; also determines which server certificates are trusted. */
  readonly fetch: Fetch
  readonly clock: Clock
  /** Deadline for one request to the issuer, in milliseconds. Default 30 000. */
  readonly timeoutMs?: number
  /** Minimum interval between key fetches, in milliseconds; tokens with unknown keys wait for the next fetch. Default 1 000. */
  readonly cooldownMs?: number
  /** Age after which keys are fetched again, in milliseconds. Default 10 minutes. */
  readonly maxAgeMs?: number
  /** Receives the reason of each failed request to the issuer. */
  readonly onError?: (error: unknown) => void
}

/** Options of one issuer: accepted tokens, and the mapping of claims to users. */
export interface IssuerAuthenticatorOptions extends IssuerConnection {
  /** Issuer identifier, as in the claim `iss`. */
  readonly issuerUrl: string
  /** URL of the discovery document. Default: below `issuerUrl`. */
  readonly discoveryUrl?: string
  /** Tokens must have at least one of these audiences. */
  readonly audiences: readonly string[]
  /** Accepted values of the claim `azp`. Absent: any, at the discretion of the issuer. */
  readonly authorizedParties?: readonly string[]
  /** Accepted signing algorithms. */
  readonly algorithms: readonly string[]
  readonly mapping: ClaimMapping
  /** Name of the claim that may be distributed. */
  readonly distributedClaim?: string | undefined
}

/** Authenticates ID tokens of an OpenID provider. */
export interface OidcAuthenticator extends TokenAuthenticator {
  /**
   * Discovers the issuer in advance. A failure goes to `onError`; the next token retries.
   *
   * @returns whether discovery succeeded.
   */
  prepare(): Promise<boolean>
}

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }
const rejected = (reason: string): AuthenticationOutcome => ({ kind: 'rejected', reason: `oidc: ${reason}` })

/** Authenticates the tokens of one issuer. Has no opinion on tokens of other issuers and on text that is not a token. */
export function createIssuerAuthenticator(options: IssuerAuthenticatorOptions): OidcAuthenticator {
  const { issuerUrl, clock, algorithms, audiences, discoveryUrl, distributedClaim } = options
  const connection = {
    algorithms,
    fetch: options.fetch,
    clock,
    timeoutMs: options.timeoutMs ?? 30_000,
    cooldownMs: options.cooldownMs ?? 1_000,
    maxAgeMs: options.maxAgeMs ?? 600_000,
    onError: options.onError ?? (() => undefined),
  }
  const keys = new LimitedIssuerKeys({
    ...connection,
    issuer: issuerUrl,
    ...(discoveryUrl === undefined ? {} : { discoveryUrl }),
  })
  const distributed =
    distributedClaim === undefined ? undefined : new DistributedClaims({ ...connection, claim: distributedClaim, audiences })
  const identify = async (claims: Claims): Promise<AuthenticationOutcome> => {
    let expandedClaims = claims
    if (distributed !== undefined) {
      const expanded = await distributed.expand(claims)
      if ('problem' in expanded) return transientRejection(`oidc: could not expand distributed claims: ${expanded.problem}`)
      expandedClaims = expanded.claims
    }
    const mapped = await options.mapping(expandedClaims)
    if (!mapped.ok) return rejected(mapped.reason)
    return { kind: 'authenticated', user: mapped.user, expiresAt: tokenEnd(claims, issuerSkew) }
  }
  const authenticate = async (token: string): Promise<AuthenticationOutcome> => {
    const generation = keys.generation()
    const { algorithm, keyId, claims } = decodeToken(token)!
    if (!algorithms.includes(algorithm)) return rejected('the token is signed with an algorithm that is not allowed')
    // Checks that need no keys run first.
    const problem = tokenTimeProblem(claims, clock.now(), { what: 'token', skew: issuerSkew }) ?? audienceProblem(claims, options)
    if (problem !== undefined) return rejected(problem)
    const found = await keys.find(keyId, algorithm, generation)
    if (found.kind === 'unavailable') return transientRejection('oidc: the keys of the issuer are not available yet')
    for (const key of found.keys) if (await isSignedBy(token, key)) return identify(claims)
    for (const key of await keys.findAfterRefresh(keyId, algorithm, generation))
      if (await isSignedBy(token, key)) return identify(claims)
    return transientRejection('oidc: no key of the issuer has signed the token')
  }
  return {
    authenticateToken: (token) => (issuerOf(token) === issuerUrl ? authenticate(token) : noOpinion),
    prepare: () => keys.discover(),
  }
}

/** The issuer of a token. Google tokens may omit the scheme. */
export function issuerOf(token: string): unknown {
  const issuer = decodeToken(token)?.claims.iss
  return issuer === 'accounts.google.com' ? 'https://accounts.google.com' : issuer
}

function audienceProblem(claims: Claims, { audiences, authorizedParties }: IssuerAuthenticatorOptions): string | undefined {
  const given = audiencesFromClaims(claims)
  if (!audiences.some((audience) => given.includes(audience))) return 'the token is for another client'
  const { azp } = claims
  if (azp === undefined || authorizedParties === undefined || audiences.includes(azp as string)) return undefined
  return typeof azp === 'string' && authorizedParties.includes(azp) ? undefined : 'the party of the token is not authorized'
}
