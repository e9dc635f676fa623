import { createPublicKey, type KeyObject } from 'node:crypto'
import type { Clock, Random, UserInfo } from '@krmkit/meta'
import type { AuthenticationOutcome, TokenAuthenticator } from './interfaces.ts'
import { type Claims, signToken, verifyToken } from './jwt.ts'

/**
 * Tokens of service accounts: signed JWTs that are bound to an account, and on request to one object beside it, and that are
 * good for as long as these exist.
 *
 * @see API protocol specification, 2.12 and 5.1
 */

/** An object that a token dies with. */
export interface BoundObject {
  readonly kind: 'Pod' | 'Secret' | 'Node'
  readonly name: string
  readonly uid: string
}

export interface TokenRequest {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Empty: those of the server itself. */
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
  readonly bound?: BoundObject
}

export interface IssuedToken {
  readonly token: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
  readonly audiences: readonly string[]
}

export interface ServiceAccountIssuer {
  /** Name of the issuer in tokens, such as `https://kubernetes.default.svc`. */
  readonly issuer: string
  issue(request: TokenRequest): Promise<IssuedToken>
}

export interface ServiceAccountKeys {
  readonly issuer: string
  /** Audiences of the server itself; the first tokens are issued for when nobody asks for others. Default: the issuer. */
  readonly audiences?: readonly string[]
  /** Private key that signs: RSA, or EC on P-256, P-384 or P-521. */
  readonly signingKey: KeyObject
  /** Further public keys that are believed: those of earlier signers. */
  readonly believedKeys?: readonly KeyObject[]
  readonly clock: Clock
  readonly random: Random
}

/** Whether an object still is what a token was bound to. */
export type ObjectLookup = (
  kind: 'ServiceAccount' | 'Namespace' | BoundObject['kind'],
  namespace: string,
  name: string,
) => { readonly uid: string } | undefined

const privateClaims = 'kubernetes.io'

export function serviceAccountIssuer(keys: ServiceAccountKeys): ServiceAccountIssuer {
  const { issuer, signingKey, clock, random } = keys
  return {
    issuer,
    async issue({ namespace, name, uid, audiences, expirationSeconds, bound }) {
      const now = Math.floor(clock.now() / 1000)
      const wanted = audiences.length > 0 ? audiences : (keys.audiences ?? [issuer])
      const reference = (object: { name: string; uid: string }) => ({ name: object.name, uid: object.uid })
      const claims: Claims = {
        aud: [...wanted],
        exp: now + expirationSeconds,
        iat: now,
        iss: issuer,
        jti: random.uuid(),
        [privateClaims]: {
          namespace,
          ...(bound === undefined ? {} : { [bound.kind.toLowerCase()]: reference(bound) }),
          serviceaccount: { name, uid },
        },
        nbf: now,
        sub: `system:serviceaccount:${namespace}:${name}`,
      }
      return { token: await signToken(claims, signingKey), expiresAt: (now + expirationSeconds) * 1000, audiences: wanted }
    },
  }
}

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }
const rejected = (reason: string): AuthenticationOutcome => ({ kind: 'rejected', reason })

/** Knows the tokens of an issuer. Tokens of other issuers, and what is no JWT, are left to others. */
export function serviceAccountTokens(keys: ServiceAccountKeys, lookup: ObjectLookup): TokenAuthenticator {
  const { issuer, clock } = keys
  const own = keys.audiences ?? [issuer]
  const believed = [createPublicKey(keys.signingKey), ...(keys.believedKeys ?? [])]
  return {
    async authenticateToken(token, options) {
      const verified = await verifyToken(token, { issuer, keys: believed, nowMs: clock.now() })
      if (verified.kind === 'foreign') return noOpinion
      if (verified.kind === 'bad') return rejected(verified.reason)
      const { claims } = verified
      const wanted = options?.audiences ?? own
      const audiences = (Array.isArray(claims.aud) ? claims.aud : [claims.aud]).filter(
        (audience): audience is string => typeof audience === 'string' && wanted.includes(audience),
      )
      if (audiences.length === 0) return rejected('the token is for other audiences')
      return identify(claims, audiences, lookup)
    },
  }
}

interface PrivateClaims {
  namespace?: string
  serviceaccount?: { name?: string; uid?: string }
  pod?: { name?: string; uid?: string }
  secret?: { name?: string; uid?: string }
  node?: { name?: string; uid?: string }
}

function identify(claims: Claims, audiences: string[], lookup: ObjectLookup): AuthenticationOutcome {
  const { namespace = '', serviceaccount, pod, secret, node } = (claims[privateClaims] ?? {}) as PrivateClaims
  const { name = '', uid = '' } = serviceaccount ?? {}
  if (claims['sub'] !== `system:serviceaccount:${namespace}:${name}` || name === '')
    return rejected('the subject is not the account that the token names')
  if (lookup('ServiceAccount', namespace, name)?.uid !== uid) return rejected('the account of the token is gone')
  for (const [kind, bound] of [
    ['Pod', pod],
    ['Secret', secret],
    ['Node', node],
  ] as const) {
    if (bound === undefined) continue
    const held = lookup(kind, kind === 'Node' ? '' : namespace, bound.name ?? '')
    // A pod's node may come and go; the pod itself may not.
    if (held?.uid !== bound.uid && !(kind === 'Node' && pod !== undefined))
      return rejected(`the ${kind.toLowerCase()} that the token is bound to is gone`)
  }
  const extra: Record<string, readonly string[]> = {}
  if (typeof claims['jti'] === 'string') extra['authentication.kubernetes.io/credential-id'] = [`JTI=${claims['jti']}`]
  if (pod?.name !== undefined) {
    extra['authentication.kubernetes.io/pod-name'] = [pod.name]
    extra['authentication.kubernetes.io/pod-uid'] = [pod.uid ?? '']
  }
  if (node?.name !== undefined) {
    extra['authentication.kubernetes.io/node-name'] = [node.name]
    extra['authentication.kubernetes.io/node-uid'] = [node.uid ?? '']
  }
  const user: UserInfo = {
    username: `system:serviceaccount:${namespace}:${name}`,
    uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    extra,
  }
  return { kind: 'authenticated', user, audiences }
}
