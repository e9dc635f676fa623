import { sendRequest } from '@krmkit/base/fetch'
import { isJsonObject } from '@krmkit/meta'
import { type Claims, decodeToken, isJwtShaped, isSignedBy } from '../jwt.ts'
import { audiencesFromClaims, issuerSkew, tokenTimeProblem } from '../token-times.ts'
import { claimOf } from './claim-mapping.ts'
import { ConcurrencyLimit } from './concurrency-limit.ts'
import { IssuerKeys, type IssuerKeysOptions } from './issuer-keys.ts'

export interface DistributedClaimOptions extends Omit<IssuerKeysOptions, 'issuer' | 'discoveryUrl'> {
  /** Name of the claim that may be distributed. */
  readonly claim: string
  /** Tokens of claim sources must have one of these audiences as well. */
  readonly audiences: readonly string[]
}

/** The complete claims, or the reason why they could not be resolved; `problem` contains no secrets. */
export type ExpandedClaims = { readonly claims: Claims } | { readonly problem: string }

/** Maximum number of claim source issuers whose keys are cached; providers use one or two. */
const maxSources = 16

/**
 * Resolves distributed claims: a token names an endpoint that returns another token with the claim.
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

  /** Adds the distributed claim to the claims of a verified token. */
  async expand(claims: Claims): Promise<ExpandedClaims> {
    const { claim } = this.#options
    if (claimOf(claims, claim) !== undefined) return { claims }
    const names = claimOf(claims, '_claim_names')
    if (names === undefined) return { claims }
    if (!isJsonObject(names)) return { problem: '_claim_names is not an object' }
    const name = claimOf(names, claim)
    if (name === undefined) return { claims }
    const sources = claimOf(claims, '_claim_sources')
    const source = isJsonObject(sources) && typeof name === 'string' ? claimOf(sources, name) : undefined
    if (!isJsonObject(source)) return { problem: 'the source of the claim is missing' }
    const { endpoint, access_token: accessToken } = source
    // A source without endpoint is an aggregated claim, which is not supported.
    if (endpoint === undefined || endpoint === '') return { claims }
    if (typeof endpoint !== 'string' || !endpoint.startsWith('https://') || !URL.canParse(endpoint))
      return { problem: 'the endpoint of the claim source is not an https URL' }
    const token = typeof accessToken === 'string' ? accessToken : ''
    return this.#calls.run(() => this.#resolve(claims, { endpoint, accessToken: token }))
  }

  async #resolve(claims: Claims, source: { readonly endpoint: string; readonly accessToken: string }): Promise<ExpandedClaims> {
    const { claim, clock, audiences, algorithms, onError } = this.#options
    let token: string
    try {
      token = await this.#fetch(source)
    } catch (error) {
      onError(error)
      return { problem: 'the request to the claim source failed' }
    }
    const read = isJwtShaped(token) ? decodeToken(token) : undefined
    const issuer = read?.claims.iss
    if (read === undefined || typeof issuer !== 'string') return { problem: 'the response of the claim source is not a token' }
    const problem = tokenTimeProblem(read.claims, clock.now(), { what: 'token of the claim', skew: issuerSkew })
    if (problem !== undefined) return { problem }
    if (!audiencesFromClaims(read.claims).some((audience) => audiences.includes(audience)))
      return { problem: 'the token of the claim is for another client' }
    if (!algorithms.includes(read.algorithm))
      return { problem: 'the token of the claim is signed with an algorithm that is not allowed' }
    const found = await this.#keysOf(issuer)?.find(read.keyId, read.algorithm)
    if (found?.kind !== 'keys') return { problem: 'the keys of the issuer of the claim are not available' }
    for (const key of found.keys) {
      if (!(await isSignedBy(token, key))) continue
      const value = claimOf(read.claims, claim)
      return value === undefined
        ? { problem: 'the token of the claim does not contain it' }
        : { claims: { ...claims, [claim]: value } }
    }
    return { problem: 'no key of its issuer has signed the token of the claim' }
  }

  async #fetch({ endpoint, accessToken }: { readonly endpoint: string; readonly accessToken: string }): Promise<string> {
    const { fetch, clock, timeoutMs } = this.#options
    const headers = { accept: 'application/jwt, */*', ...(accessToken === '' ? {} : { authorization: `Bearer ${accessToken}` }) }
    const { status, text } = await sendRequest(fetch, { url: endpoint, headers }, { clock, timeoutMs })
    if (status < 200 || status > 299) throw new Error(`oidc: the claim source ${endpoint} responded with status ${status}`)
    return text.trim()
  }

  #keysOf(issuer: string): IssuerKeys | undefined {
    const cached = this.#keys.get(issuer)
    if (cached !== undefined) return cached
    if (!issuer.startsWith('https://') || !URL.canParse(issuer)) return undefined
    // Evicts the oldest entry, which is recreated when needed.
    if (this.#keys.size >= maxSources) this.#keys.delete(this.#keys.keys().next().value ?? '')
    const keys = new IssuerKeys({ ...this.#options, issuer })
    this.#keys.set(issuer, keys)
    return keys
  }
}
