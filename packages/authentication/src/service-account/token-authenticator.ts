import { ByteBoundedCache, estimateBytes } from '@krmkit/base/byte-bounded-cache'
import type { Clock, NamingProfile, UserInfo } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { intersectAudiences } from '../audiences.ts'
import type { AuthenticationOutcome, TokenAuthenticator } from '../interfaces.ts'
import { type Claims, decodeToken, isJwtShaped } from '../jwt.ts'
import { createKeyedDigest } from '../keyed-digest.ts'
import { audiencesFromClaims, clockSkewSeconds, tokenEnd, tokenTimeProblem } from '../token-times.ts'
import { type BoundClaims, legacyIssuer, readBoundClaims, serviceAccountUsername } from './claims.ts'
import { type ServiceAccountKeys, serverAudiencesOf } from './issuer.ts'
import { createKeyRing } from './key-ring.ts'
import { createLegacyTokenCheck, type LegacyTokenOptions } from './legacy-token.ts'
import type { FoundObject, ObjectLookup } from './object-lookup.ts'

export interface ServiceAccountTokenOptions extends LegacyTokenOptions {
  /**
   * Size of the cache of verified tokens, in bytes. Default 16 MiB. A cache for tokens of other issuers takes an additional
   * sixteenth.
   */
  readonly cacheBytes?: number
  /** Whether to add the id of a token to the extra of its user (gate `ServiceAccountTokenJTI`). Default true. */
  readonly tokenIds?: boolean
  /**
   * Whether to add the node of a pod's token to the extra of its user (gate `ServiceAccountTokenPodNodeInfo`). Default true.
   */
  readonly podNodes?: boolean
  /** Whether to accept tokens that are bound to a node (gate `ServiceAccountTokenNodeBindingValidation`). Default true. */
  readonly nodeTokens?: boolean
}

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }
const rejected = (reason: string): AuthenticationOutcome => ({ kind: 'rejected', reason })
const audienceMismatch = (of: readonly string[], wanted: readonly string[]): AuthenticationOutcome =>
  rejected(`token audiences ${goList(of)} is invalid for the target audiences ${goList(wanted)}`)
/** Formats a list of strings like Go. */
const goList = (texts: readonly string[]) => `[${texts.map(goQuote).join(' ')}]`

/**
 * Authenticates the tokens of a service account issuer. Has no opinion on tokens of other issuers and on text that is not a
 * token.
 *
 * Verified signatures are cached. Account and bound object are looked up for every request, so deleting either revokes the token
 * immediately.
 *
 * @throws AuthenticationError `InvalidIssuer` for unsupported keys.
 * @example
 * ```ts
 * import { generateKeyPairSync } from 'node:crypto'
 * import { createServiceAccountIssuer, createServiceAccountTokenAuthenticator } from '@krmkit/authentication/service-account'
 * import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
 *
 * const signingKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
 * const environment = { clock: systemClock, random: systemRandom, profile: stockProfile }
 * const keys = { ...environment, issuer: 'https://api.example.com', signingKey }
 * const account = { namespace: 'shop', name: 'web', uid: '2f6e0a1c' }
 * const { token } = await createServiceAccountIssuer(keys).issue({ ...account, audiences: [], expirationSeconds: 3600 })
 * const tokens = createServiceAccountTokenAuthenticator(keys, () => ({ uid: account.uid }))
 * await tokens.authenticateToken(token) // user: { username: 'system:serviceaccount:shop:web', ... }
 * ```
 */
export function createServiceAccountTokenAuthenticator(
  keys: ServiceAccountKeys,
  lookup: ObjectLookup,
  options: ServiceAccountTokenOptions = {},
): TokenAuthenticator {
  const { clock, profile } = keys
  const issuers = new Set([keys.issuer, ...(keys.formerIssuers ?? [])])
  const legacy = legacyIssuer(profile)
  const serverAudiences = serverAudiencesOf(keys)
  const ring = createKeyRing(keys.signingKey, keys.verificationKeys ?? [])
  const digest = createKeyedDigest(keys.random)
  const maxBytes = options.cacheBytes ?? 16 * 1024 * 1024
  // The weight includes the outcome that is added later, which contains strings of the claims.
  const verified = new ByteBoundedCache<VerifiedToken>({
    clock,
    maxBytes,
    weigh: ({ claims }) => 1024 + 2 * estimateBytes(claims),
  })
  /** Tokens of other issuers, which are parsed once. */
  const foreign = new ByteBoundedCache<true>({ maxBytes: maxBytes / 16 })
  const { tokenIds = true, podNodes = true, nodeTokens = true } = options
  const context = { clock, profile, lookup, tokenIds, podNodes, nodeTokens }
  const legacyOf = createLegacyTokenCheck({ ...context, onUse: options.onUse })

  const authenticate = (token: string, verifiedToken: VerifiedToken, wanted: readonly string[]): AuthenticationOutcome => {
    const { claims } = verifiedToken
    if (claims.iss === legacy) {
      // Secret-based tokens have no audiences: they are valid for the API server.
      const audiences = intersectAudiences(wanted, serverAudiences)
      return audiences.length === 0 ? audienceMismatch(serverAudiences, wanted) : legacyOf(token, claims, audiences)
    }
    const cached = wanted === serverAudiences ? verifiedToken.outcome : undefined
    const audiences = cached?.audiences ?? intersectAudiences(wanted, audiencesFromClaims(claims))
    if (audiences.length === 0) return audienceMismatch(audiencesFromClaims(claims), wanted)
    const problem = currentProblem(verifiedToken, context)
    if (problem !== undefined) return rejected(problem)
    if (cached !== undefined) return cached
    const outcome = outcomeFor(verifiedToken, audiences, context)
    // With `warnafter`, the annotations depend on the time of the request, so the outcome is not cached.
    if (wanted === serverAudiences && verifiedToken.bound?.warnafter === undefined) verifiedToken.outcome = outcome
    return outcome
  }

  const verify = async (token: string, key: string, wanted: readonly string[]): Promise<AuthenticationOutcome> => {
    const read = decodeToken(token)!
    if (!(await ring.hasSigned(token, read))) return rejected('the token is not signed with a trusted key')
    const verifiedToken: VerifiedToken = { claims: read.claims, bound: readBoundClaims(read.claims, profile), outcome: undefined }
    verified.set(key, verifiedToken, tokenEnd(read.claims))
    return authenticate(token, verifiedToken, wanted)
  }

  return {
    authenticateToken(token, options) {
      if (!isJwtShaped(token)) return noOpinion
      const wanted = options?.audiences ?? serverAudiences
      const key = options?.digest?.value() ?? digest(token)
      const cached = verified.get(key)
      if (cached !== undefined) return authenticate(token, cached, wanted)
      if (foreign.get(key) !== undefined) return noOpinion
      const issuer = decodeToken(token)?.claims.iss
      if (typeof issuer === 'string' && (issuers.has(issuer) || issuer === legacy)) return verify(token, key, wanted)
      foreign.set(key, true)
      return noOpinion
    },
  }
}

/** A token with a verified signature, and the cached outcome while account and bound object exist. */
interface VerifiedToken {
  readonly claims: Claims
  readonly bound: BoundClaims | undefined
  outcome: Authenticated | undefined
}

interface Context {
  readonly clock: Pick<Clock, 'now'>
  readonly profile: Pick<NamingProfile, 'apiDomain' | 'domain' | 'vendor'>
  readonly lookup: ObjectLookup
  readonly tokenIds: boolean
  readonly podNodes: boolean
  readonly nodeTokens: boolean
}

/** Returns why the token is currently invalid; undefined when it is valid. */
function currentProblem({ claims, bound }: VerifiedToken, { clock, lookup, nodeTokens }: Context): string | undefined {
  const now = clock.now()
  const problem = tokenTimeProblem(claims, now, { what: 'service account token' })
  if (problem !== undefined) return problem
  if (bound === undefined) return 'the claims of the token are incomplete, or contradict each other'
  const { namespace, serviceaccount: account, secret, pod, node } = bound
  const found = lookup('ServiceAccount', namespace, account.name)
  if (found === undefined) return `serviceaccounts ${goQuote(account.name)} not found`
  if (found.uid !== account.uid) return `service account UID (${found.uid}) does not match claim (${account.uid})`
  if (isGone(found, now)) return `service account ${namespace}/${account.name} has been deleted`
  const problemOf = (
    kind: 'Secret' | 'Pod' | 'Node',
    within: string,
    { name, uid }: { readonly name: string; readonly uid: string },
  ) => boundProblem(kind, { found: lookup(kind, within, name), uid, now })
  const ofSecret = secret === undefined ? undefined : problemOf('Secret', namespace, secret)
  if (ofSecret !== undefined) return ofSecret
  // For pod tokens the node is informational only.
  if (pod !== undefined) return problemOf('Pod', namespace, pod)
  if (node === undefined) return undefined
  if (!nodeTokens)
    return 'token is bound to a Node object but the ServiceAccountTokenNodeBindingValidation feature gate is disabled'
  return problemOf('Node', '', node)
}

function boundProblem(
  kind: string,
  { found, uid, now }: { readonly found: FoundObject | undefined; readonly uid: string; readonly now: number },
): string | undefined {
  if (found === undefined) return invalidated
  const name = kind.toLowerCase()
  if (found.uid !== uid) return `${name} UID (${found.uid}) does not match service account ${name} ref claim (${uid})`
  return isGone(found, now) ? invalidated : undefined
}

const invalidated = 'service account token has been invalidated'

function outcomeFor({ claims, bound }: VerifiedToken, audiences: readonly string[], context: Context): Authenticated {
  const { clock, profile } = context
  const now = clock.now() / 1000
  const warnAfter = bound!.warnafter
  return {
    kind: 'authenticated',
    user: userFromClaims(claims, bound!, context),
    audiences,
    expiresAt: tokenEnd(claims),
    ...(warnAfter === undefined || now <= warnAfter
      ? {}
      : { annotations: staleAnnotation(claims, Math.floor(now) - warnAfter, profile) }),
  }
}

type Authenticated = Extract<AuthenticationOutcome, { kind: 'authenticated' }>

/**
 * Whether an object no longer exists. A terminating object exists until its deletion time plus clock skew, because its
 * shutdown may need the token.
 */
function isGone({ deletionTimestamp }: FoundObject, now: number): boolean {
  if (deletionTimestamp === undefined || deletionTimestamp === null) return false
  return Date.parse(deletionTimestamp) + clockSkewSeconds * 1000 <= now
}

function userFromClaims(claims: Claims, bound: BoundClaims, { profile, tokenIds, podNodes }: Context): UserInfo {
  const { namespace, serviceaccount, pod } = bound
  const node = pod === undefined || podNodes ? bound.node : undefined
  const extra: Record<string, readonly string[]> = {}
  const add = (key: string, value: string) => {
    if (value !== '') extra[`authentication.${profile.domain}/${key}`] = [value]
  }
  if (tokenIds && typeof claims.jti === 'string' && claims.jti !== '') add('credential-id', `JTI=${claims.jti}`)
  add('node-name', node?.name ?? '')
  add('node-uid', node?.uid ?? '')
  add('pod-name', pod?.name ?? '')
  add('pod-uid', pod?.uid ?? '')
  return {
    username: serviceAccountUsername(namespace, serviceaccount.name),
    uid: serviceaccount.uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    extra,
  }
}

function staleAnnotation({ sub }: Claims, seconds: number, { apiDomain }: Context['profile']): Readonly<Record<string, string>> {
  const text = `subject: ${String(sub)}, seconds after warning threshold: ${seconds}`
  return { [`authentication.${apiDomain}/stale-token`]: text }
}
