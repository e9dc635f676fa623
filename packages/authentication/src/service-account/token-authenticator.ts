import { ByteBoundedCache, type Clock, estimateBytes, type NamingProfile, type UserInfo } from '@krmkit/meta'
import { common } from '../audiences.ts'
import type { AuthenticationOutcome, TokenAuthenticator } from '../interfaces.ts'
import { type Claims, isTokenShaped, readToken } from '../jwt.ts'
import { keyedDigest } from '../keyed-digest.ts'
import { audiencesIn, clockSkewSeconds, endOf, flawOfTimes } from '../token-times.ts'
import { accountUsername, type BoundClaims, boundClaims, legacyIssuer } from './claims.ts'
import { audiencesOf, type BoundObject, type ServiceAccountKeys } from './issuer.ts'
import { keyRing } from './key-ring.ts'
import { type LegacyTokenOptions, legacyIdentity } from './legacy-token.ts'

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
const otherAudiences = rejected('the token is for other audiences')

/**
 * Knows the tokens of an issuer of service accounts. Tokens of other issuers, and what is no token, are left to others.
 *
 * That a signature is good is remembered; whether account and bound object still are what the token says is looked up for
 * every request: a token ends with them at once.
 *
 * @throws AuthenticationError `InvalidIssuer` when a key cannot be used.
 */
export function serviceAccountTokens(
  keys: ServiceAccountKeys,
  lookup: ObjectLookup,
  options: ServiceAccountTokenOptions = {},
): TokenAuthenticator {
  const { clock, profile } = keys
  const issuers = new Set([keys.issuer, ...(keys.formerIssuers ?? [])])
  const legacy = legacyIssuer(profile)
  const own = audiencesOf(keys)
  const ring = keyRing(keys.signingKey, keys.believedKeys ?? [])
  const digest = keyedDigest(keys.random)
  const maxBytes = options.cacheBytes ?? 16 * 1024 * 1024
  // The identity that is added later holds texts of the claims.
  const verified = new ByteBoundedCache<Verified>({ clock, maxBytes, weigh: ({ claims }) => 1024 + 2 * estimateBytes(claims) })
  /** Tokens of others, which come again and again too. */
  const foreign = new ByteBoundedCache<true>({ maxBytes: maxBytes / 16 })
  const context = { clock, profile, lookup }
  const legacyOf = legacyIdentity({ ...context, onUse: options.onUse })

  const judge = (token: string, known: Verified, wanted: readonly string[]): AuthenticationOutcome => {
    const { claims } = known
    if (claims.iss === legacy) {
      // Such tokens name no audience: they are for the server.
      const audiences = common(wanted, own)
      return audiences.length === 0 ? otherAudiences : legacyOf(token, claims, audiences)
    }
    const flaw = flawNow(known, context)
    if (flaw !== undefined) return rejected(flaw)
    if (wanted === own && known.outcome !== undefined) return known.outcome
    const audiences = common(wanted, audiencesIn(claims))
    if (audiences.length === 0) return otherAudiences
    const outcome = identify(known, audiences, context)
    // What may say something about the moment is worked out each time.
    if (wanted === own && known.bound?.warnafter === undefined) known.outcome = outcome
    return outcome
  }

  const verify = async (token: string, key: string, wanted: readonly string[]): Promise<AuthenticationOutcome> => {
    const read = readToken(token)!
    if (!(await ring.hasSigned(token, read))) return rejected('no key that is believed has signed the token')
    const known: Verified = { claims: read.claims, bound: boundClaims(read.claims, profile), outcome: undefined }
    verified.set(key, known, endOf(read.claims))
    return judge(token, known, wanted)
  }

  return {
    authenticateToken(token, ask) {
      if (!isTokenShaped(token)) return noOpinion
      const wanted = ask?.audiences ?? own
      const key = ask?.digest?.value() ?? digest(token)
      const known = verified.get(key)
      if (known !== undefined) return judge(token, known, wanted)
      if (foreign.get(key) !== undefined) return noOpinion
      const issuer = readToken(token)?.claims.iss
      if (typeof issuer === 'string' && (issuers.has(issuer) || issuer === legacy)) return verify(token, key, wanted)
      foreign.set(key, true)
      return noOpinion
    },
  }
}

/** A token that was rightly signed, and what it comes to while what it depends on is there. */
interface Verified {
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
function flawNow({ claims, bound }: Verified, { clock, lookup }: Context): string | undefined {
  const now = clock.now()
  const flaw = flawOfTimes(claims, now, { what: 'service account token' })
  if (flaw !== undefined) return flaw
  if (bound === undefined) return 'the claims of the token are incomplete, or contradict each other'
  const { namespace, serviceaccount: account, secret, pod, node } = bound
  if (!isStill(lookup('ServiceAccount', namespace, account.name), account.uid, now)) return 'the account of the token is gone'
  if (secret !== undefined && !isStill(lookup('Secret', namespace, secret.name), secret.uid, now))
    return 'the secret that the token is bound to is gone'
  if (pod !== undefined)
    return isStill(lookup('Pod', namespace, pod.name), pod.uid, now) ? undefined : 'the pod that the token is bound to is gone'
  // The node of a pod is for information: it may come and go; the pod itself may not.
  if (node !== undefined && !isStill(lookup('Node', '', node.name), node.uid, now))
    return 'the node that the token is bound to is gone'
  return undefined
}

function identify({ claims, bound }: Verified, audiences: readonly string[], { clock, profile }: Context): Authenticated {
  const now = clock.now() / 1000
  const warnAfter = bound!.warnafter
  return {
    kind: 'authenticated',
    user: userOf(claims, bound!, profile),
    audiences,
    expiresAt: endOf(claims),
    ...(warnAfter === undefined || now <= warnAfter
      ? {}
      : { annotations: staleAnnotation(claims, Math.floor(now) - warnAfter, profile) }),
  }
}

type Authenticated = Extract<AuthenticationOutcome, { kind: 'authenticated' }>

/** One that is on its way out counts as there for as long as clocks may differ: what it still has to do may need the token. */
function isStill(found: FoundObject | undefined, uid: string, now: number): boolean {
  if (found === undefined || found.uid !== uid) return false
  const { deletionTimestamp } = found
  if (deletionTimestamp === undefined || deletionTimestamp === null) return true
  return Date.parse(deletionTimestamp) + clockSkewSeconds * 1000 > now
}

function userOf(claims: Claims, bound: BoundClaims, { domain }: Pick<NamingProfile, 'domain'>): UserInfo {
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
    username: accountUsername(namespace, serviceaccount.name),
    uid: serviceaccount.uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    extra,
  }
}

function staleAnnotation({ sub }: Claims, seconds: number, { apiDomain }: Context['profile']): Readonly<Record<string, string>> {
  const text = `subject: ${String(sub)}, seconds after warning threshold: ${seconds}`
  return { [`authentication.${apiDomain}/stale-token`]: text }
}
