import { ByteBoundedCache, type Clock, estimateBytes, type NamingProfile, type UserInfo } from '@krmkit/meta'
import { intersectAudiences } from '../audiences.ts'
import type { AuthenticationOutcome, TokenAuthenticator } from '../interfaces.ts'
import { type Claims, decodeToken, isJwtShaped } from '../jwt.ts'
import { createKeyedDigest } from '../keyed-digest.ts'
import { audiencesFromClaims, clockSkewSeconds, tokenEnd, tokenTimeProblem } from '../token-times.ts'
import { type BoundClaims, legacyIssuer, readBoundClaims, serviceAccountUsername } from './claims.ts'
import { type BoundObject, type ServiceAccountKeys, serverAudiencesOf } from './issuer.ts'
import { createKeyRing } from './key-ring.ts'
import { createLegacyTokenCheck, type LegacyTokenOptions } from './legacy-token.ts'

/** An object as far as tokens depend on it. */
export interface FoundObject {
  readonly uid: string
  readonly deletionTimestamp?: string | null
  readonly labels?: Readonly<Record<string, string>>
  /** Of a Secret: its data in base64. */
  readonly data?: Readonly<Record<string, string>>
  /** Of an account: names of the Secrets that it refers to. */
  readonly secrets?: readonly string[]
}

/** The objects that tokens are bound to, as they are now. */
export type ObjectLookup = (
  kind: 'ServiceAccount' | BoundObject['kind'],
  namespace: string,
  name: string,
) => FoundObject | undefined

export interface ServiceAccountTokenOptions extends LegacyTokenOptions {
  /** Bytes of the verified tokens that are remembered. Default 16 MiB; a sixteenth more for tokens of other issuers. */
  readonly cacheBytes?: number
}

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }
const rejected = (reason: string): AuthenticationOutcome => ({ kind: 'rejected', reason })
const audienceMismatch = rejected('the token is for other audiences')

/**
 * Knows the tokens of an issuer of service accounts. Tokens of other issuers, and what is no token, are left to others.
 *
 * That a signature is good is remembered; whether account and bound object still are what the token says is looked up for
 * every request: a token ends with them at once.
 *
 * @throws AuthenticationError `InvalidIssuer` when a key cannot be used.
 */
export function createServiceAccountTokenAuthenticator(
  keys: ServiceAccountKeys,
  lookup: ObjectLookup,
  options: ServiceAccountTokenOptions = {},
): TokenAuthenticator {
  const { clock, profile } = keys
  const issuers = new Set([keys.issuer, ...(keys.formerIssuers ?? [])])
  const legacy = legacyIssuer(profile)
  const own = serverAudiencesOf(keys)
  const ring = createKeyRing(keys.signingKey, keys.verificationKeys ?? [])
  const digest = createKeyedDigest(keys.random)
  const maxBytes = options.cacheBytes ?? 16 * 1024 * 1024
  // The identity that is added later holds texts of the claims.
  const verified = new ByteBoundedCache<VerifiedToken>({
    clock,
    maxBytes,
    weigh: ({ claims }) => 1024 + 2 * estimateBytes(claims),
  })
  /** Tokens of others, which come again and again too. */
  const foreign = new ByteBoundedCache<true>({ maxBytes: maxBytes / 16 })
  const context = { clock, profile, lookup }
  const legacyOf = createLegacyTokenCheck({ ...context, onUse: options.onUse })

  const judge = (token: string, known: VerifiedToken, wanted: readonly string[]): AuthenticationOutcome => {
    const { claims } = known
    if (claims.iss === legacy) {
      // Such tokens name no audience: they are for the server.
      const audiences = intersectAudiences(wanted, own)
      return audiences.length === 0 ? audienceMismatch : legacyOf(token, claims, audiences)
    }
    const flaw = currentProblem(known, context)
    if (flaw !== undefined) return rejected(flaw)
    if (wanted === own && known.outcome !== undefined) return known.outcome
    const audiences = intersectAudiences(wanted, audiencesFromClaims(claims))
    if (audiences.length === 0) return audienceMismatch
    const outcome = outcomeFor(known, audiences, context)
    // What may say something about the moment is worked out each time.
    if (wanted === own && known.bound?.warnafter === undefined) known.outcome = outcome
    return outcome
  }

  const verify = async (token: string, key: string, wanted: readonly string[]): Promise<AuthenticationOutcome> => {
    const read = decodeToken(token)!
    if (!(await ring.hasSigned(token, read))) return rejected('no key that is believed has signed the token')
    const known: VerifiedToken = { claims: read.claims, bound: readBoundClaims(read.claims, profile), outcome: undefined }
    verified.set(key, known, tokenEnd(read.claims))
    return judge(token, known, wanted)
  }

  return {
    authenticateToken(token, ask) {
      if (!isJwtShaped(token)) return noOpinion
      const wanted = ask?.audiences ?? own
      const key = ask?.digest?.value() ?? digest(token)
      const known = verified.get(key)
      if (known !== undefined) return judge(token, known, wanted)
      if (foreign.get(key) !== undefined) return noOpinion
      const issuer = decodeToken(token)?.claims.iss
      if (typeof issuer === 'string' && (issuers.has(issuer) || issuer === legacy)) return verify(token, key, wanted)
      foreign.set(key, true)
      return noOpinion
    },
  }
}

/** A token that was rightly signed, and what it comes to while what it depends on is there. */
interface VerifiedToken {
  readonly claims: Claims
  readonly bound: BoundClaims | undefined
  outcome: AuthenticationOutcome | undefined
}

interface Context {
  readonly clock: Pick<Clock, 'now'>
  readonly profile: Pick<NamingProfile, 'apiDomain' | 'domain' | 'vendor'>
  readonly lookup: ObjectLookup
}

/** Why the token is not good at this moment; undefined when it is. */
function currentProblem({ claims, bound }: VerifiedToken, { clock, lookup }: Context): string | undefined {
  const now = clock.now()
  const flaw = tokenTimeProblem(claims, now, { what: 'service account token' })
  if (flaw !== undefined) return flaw
  if (bound === undefined) return 'the claims of the token are incomplete, or contradict each other'
  const { namespace, serviceaccount: account, secret, pod, node } = bound
  if (!exists(lookup('ServiceAccount', namespace, account.name), account.uid, now)) return 'the account of the token is gone'
  if (secret !== undefined && !exists(lookup('Secret', namespace, secret.name), secret.uid, now))
    return 'the secret that the token is bound to is gone'
  if (pod !== undefined)
    return exists(lookup('Pod', namespace, pod.name), pod.uid, now) ? undefined : 'the pod that the token is bound to is gone'
  // The node of a pod is for information: it may come and go; the pod itself may not.
  if (node !== undefined && !exists(lookup('Node', '', node.name), node.uid, now))
    return 'the node that the token is bound to is gone'
  return undefined
}

function outcomeFor({ claims, bound }: VerifiedToken, audiences: readonly string[], { clock, profile }: Context): Authenticated {
  const now = clock.now() / 1000
  const warnAfter = bound!.warnafter
  return {
    kind: 'authenticated',
    user: userFromClaims(claims, bound!, profile),
    audiences,
    expiresAt: tokenEnd(claims),
    ...(warnAfter === undefined || now <= warnAfter
      ? {}
      : { annotations: staleAnnotation(claims, Math.floor(now) - warnAfter, profile) }),
  }
}

type Authenticated = Extract<AuthenticationOutcome, { kind: 'authenticated' }>

/** One that is on its way out counts as there for as long as clocks may differ: what it still has to do may need the token. */
function exists(found: FoundObject | undefined, uid: string, now: number): boolean {
  if (found === undefined || found.uid !== uid) return false
  const { deletionTimestamp } = found
  if (deletionTimestamp === undefined || deletionTimestamp === null) return true
  return Date.parse(deletionTimestamp) + clockSkewSeconds * 1000 > now
}

function userFromClaims(claims: Claims, bound: BoundClaims, { domain }: Pick<NamingProfile, 'domain'>): UserInfo {
  const { namespace, serviceaccount, pod, node } = bound
  const extra: Record<string, readonly string[]> = {}
  const add = (key: string, value: string) => {
    if (value !== '') extra[`authentication.${domain}/${key}`] = [value]
  }
  if (typeof claims.jti === 'string' && claims.jti !== '') add('credential-id', `JTI=${claims.jti}`)
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
