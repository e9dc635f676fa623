import { ConcurrencyLimit } from '../concurrency-limit.ts'
import { ask } from '../fetch.ts'
import { type Claims, decodeToken, isJwtShaped, isSignedBy } from '../jwt.ts'
import { audiencesFromClaims, issuerSkew, tokenTimeProblem } from '../token-times.ts'
import { claimOf } from './claim-mapping.ts'
import { IssuerKeys, type IssuerKeysOptions } from './issuer-keys.ts'

export interface DistributedClaimOptions extends Omit<IssuerKeysOptions, 'issuer' | 'discoveryUrl'> {
  /** The one claim that may be told by others. */
  readonly claim: string
  /** Tokens of theirs must be for one of these, too. */
  readonly audiences: readonly string[]
}

export type ExpandedClaims = { readonly claims: Claims } | { readonly flaw: string }

/** Sources that are known at a time; a provider names one or two. */
const maxSources = 16

/**
 * Claims that a token does not hold itself: it names where another token is to be had that does.
 *
 *     "_claim_names":   { "groups": "src1" }
 *     "_claim_sources": { "src1": { "endpoint": "https://...", "access_token": "..." } }
 *
 * @see OpenID Connect Core 1.0, section 5.6.2
 */
export class DistributedClaims {
  readonly #options: DistributedClaimOptions
  readonly #keys = new Map<string, IssuerKeys>()
  readonly #calls = new ConcurrencyLimit()

  constructor(options: DistributedClaimOptions) {
    this.#options = options
  }

  /** The claims of a token that has been believed, with the one that it has others tell. Nothing secret is in a flaw. */
  async expand(claims: Claims): Promise<ExpandedClaims> {
    const { claim } = this.#options
    if (claimOf(claims, claim) !== undefined) return { claims }
    const names = claimOf(claims, '_claim_names')
    if (names === undefined) return { claims }
    if (!isObject(names)) return { flaw: 'the names of claims are no object' }
    const name = claimOf(names, claim)
    if (name === undefined) return { claims }
    const sources = claimOf(claims, '_claim_sources')
    const source = isObject(sources) && typeof name === 'string' ? claimOf(sources, name) : undefined
    if (!isObject(source)) return { flaw: 'the source of the claim is missing' }
    const { endpoint, access_token: accessToken } = source
    // Perhaps the claim is in the token all the same, aggregated: nobody reads that.
    if (endpoint === undefined || endpoint === '') return { claims }
    if (typeof endpoint !== 'string' || !endpoint.startsWith('https://') || !URL.canParse(endpoint))
      return { flaw: 'the source of the claim is no https URL' }
    const given = typeof accessToken === 'string' ? accessToken : ''
    return this.#calls.run(() => this.#resolve(claims, { endpoint, accessToken: given }))
  }

  async #resolve(claims: Claims, source: { readonly endpoint: string; readonly accessToken: string }): Promise<ExpandedClaims> {
    const { claim, clock, audiences, algorithms, onError } = this.#options
    let token: string
    try {
      token = await this.#fetch(source)
    } catch (error) {
      onError(error)
      return { flaw: 'the source of the claim could not be asked' }
    }
    const read = isJwtShaped(token) ? decodeToken(token) : undefined
    const issuer = read?.claims.iss
    if (read === undefined || typeof issuer !== 'string') return { flaw: 'the source of the claim answers with no token' }
    const flaw = tokenTimeProblem(read.claims, clock.now(), { what: 'token of the claim', skew: issuerSkew })
    if (flaw !== undefined) return { flaw }
    if (!audiencesFromClaims(read.claims).some((audience) => audiences.includes(audience)))
      return { flaw: 'the token of the claim is for another client' }
    if (!algorithms.includes(read.algorithm))
      return { flaw: 'the token of the claim is signed with an algorithm that is not allowed' }
    const found = await this.#keysOf(issuer)?.find(read.keyId, read.algorithm)
    if (found?.kind !== 'keys') return { flaw: 'the keys of the issuer of the claim are not known' }
    for (const key of found.keys) {
      if (!(await isSignedBy(token, key))) continue
      const value = claimOf(read.claims, claim)
      return value === undefined ? { flaw: 'the token of the claim does not hold it' } : { claims: { ...claims, [claim]: value } }
    }
    return { flaw: 'no key of its issuer has signed the token of the claim' }
  }

  async #fetch({ endpoint, accessToken }: { readonly endpoint: string; readonly accessToken: string }): Promise<string> {
    const { fetch, clock, timeoutMs } = this.#options
    const headers = { accept: 'application/jwt, */*', ...(accessToken === '' ? {} : { authorization: `Bearer ${accessToken}` }) }
    const { status, text } = await ask(fetch, { url: endpoint, headers }, { clock, timeoutMs })
    if (status < 200 || status > 299) throw new Error(`oidc: the source of a claim, ${endpoint}, answered with ${status}`)
    return text.trim()
  }

  #keysOf(issuer: string): IssuerKeys | undefined {
    const known = this.#keys.get(issuer)
    if (known !== undefined) return known
    if (!issuer.startsWith('https://') || !URL.canParse(issuer)) return undefined
    // Whoever was there first goes: it can come back.
    if (this.#keys.size >= maxSources) this.#keys.delete(this.#keys.keys().next().value ?? '')
    const made = new IssuerKeys({ ...this.#options, issuer })
    this.#keys.set(issuer, made)
    return made
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
