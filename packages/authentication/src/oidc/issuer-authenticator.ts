import type { Clock } from '@krmkit/meta'
import { LimitedIssuerKeys } from '../concurrency-limit.ts'
import type { Fetch } from '../fetch.ts'
import type { AuthenticationOutcome, TokenAuthenticator } from '../interfaces.ts'
import { type Claims, decodeToken, isSignedBy } from '../jwt.ts'
import { transientRejection } from '../token-cache.ts'
import { audiencesFromClaims, issuerSkew, tokenEnd, tokenTimeProblem } from '../token-times.ts'
import type { ClaimMapping } from './claim-mapping.ts'
import { DistributedClaims } from './distributed-claims.ts'

/** How an issuer is asked. */
export interface IssuerConnection {
  /** How to reach the issuer. Trusting its certificate is the fetch's business. */
  readonly fetch: Fetch
  readonly clock: Clock
  /** Longest wait for one answer of the issuer, in milliseconds. Default 30 000. */
  readonly timeoutMs?: number
  /** Least time between two fetches of keys, in milliseconds; tokens with unknown keys wait for the next one. Default 1 000. */
  readonly cooldownMs?: number
  /** Age at which keys are fetched again, in milliseconds. Default 10 minutes. */
  readonly maxAgeMs?: number
  /** Told why the issuer could not be asked. */
  readonly onError?: (error: unknown) => void
}

/** One issuer: which of its tokens are believed, and as whom. */
export interface IssuerAuthenticatorOptions extends IssuerConnection {
  /** As its tokens name it. */
  readonly issuerUrl: string
  /** Where it is discovered, when that is not below `issuerUrl`. */
  readonly discoveryUrl?: string
  /** Tokens must be for one of them. */
  readonly audiences: readonly string[]
  /** Clients that may ask for tokens in the name of an audience, by claim `azp`. Absent: any, that is for the issuer to say. */
  readonly authorizedParties?: readonly string[]
  /** Algorithms that tokens may be signed with. */
  readonly algorithms: readonly string[]
  readonly mapping: ClaimMapping
  /** A claim that the issuer may have others tell. */
  readonly distributedClaim?: string | undefined
}

/** Knows tokens of an OpenID provider. */
export interface OidcAuthenticator extends TokenAuthenticator {
  /**
   * Discovers the issuer in advance; failures go to `onError`, and are tried again when a token comes.
   *
   * @returns whether its keys are known.
   */
  prepare(): Promise<boolean>
}

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }
const rejected = (reason: string): AuthenticationOutcome => ({ kind: 'rejected', reason: `oidc: ${reason}` })

/** Knows the tokens of one issuer. Tokens of others, and what is no token, are left to others. */
export function createIssuerAuthenticator(options: IssuerAuthenticatorOptions): OidcAuthenticator {
  const { issuerUrl, clock, algorithms, audiences, discoveryUrl, distributedClaim } = options
  const reach = {
    algorithms,
    fetch: options.fetch,
    clock,
    timeoutMs: options.timeoutMs ?? 30_000,
    cooldownMs: options.cooldownMs ?? 1_000,
    maxAgeMs: options.maxAgeMs ?? 600_000,
    onError: options.onError ?? (() => undefined),
  }
  const keys = new LimitedIssuerKeys({ ...reach, issuer: issuerUrl, ...(discoveryUrl === undefined ? {} : { discoveryUrl }) })
  const distributed =
    distributedClaim === undefined ? undefined : new DistributedClaims({ ...reach, claim: distributedClaim, audiences })
  const identify = async (claims: Claims): Promise<AuthenticationOutcome> => {
    let all = claims
    if (distributed !== undefined) {
      const expanded = await distributed.expand(claims)
      if ('flaw' in expanded) return transientRejection(`oidc: could not expand distributed claims: ${expanded.flaw}`)
      all = expanded.claims
    }
    const mapped = options.mapping(all)
    if (!mapped.ok) return rejected(mapped.reason)
    return { kind: 'authenticated', user: mapped.user, expiresAt: tokenEnd(claims, issuerSkew) }
  }
  const judge = async (token: string): Promise<AuthenticationOutcome> => {
    const mark = keys.generation()
    const { algorithm, keyId, claims } = decodeToken(token)!
    if (!algorithms.includes(algorithm)) return rejected('the token is signed with an algorithm that is not allowed')
    // What no signature can mend is refused first: it costs no fetch.
    const flaw = tokenTimeProblem(claims, clock.now(), { what: 'token', skew: issuerSkew }) ?? audienceProblem(claims, options)
    if (flaw !== undefined) return rejected(flaw)
    const found = await keys.find(keyId, algorithm, mark)
    if (found.kind === 'unavailable') return transientRejection('oidc: the keys of the issuer are not known yet')
    for (const key of found.keys) if (await isSignedBy(token, key)) return identify(claims)
    for (const key of await keys.findAfterRefresh(keyId, algorithm, mark))
      if (await isSignedBy(token, key)) return identify(claims)
    return transientRejection('oidc: no key of the issuer has signed the token')
  }
  return {
    authenticateToken: (token) => (issuerOf(token) === issuerUrl ? judge(token) : noOpinion),
    prepare: () => keys.discover(),
  }
}

/** The issuer that a token names; one of them has an older name. */
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
