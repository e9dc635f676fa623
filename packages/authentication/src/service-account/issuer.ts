import type { KeyObject } from 'node:crypto'
import type { Clock, NamingProfile, Random } from '@krmkit/meta'
import { type LegacyClaims, serviceAccountUsername, writeLegacyClaims } from './claims.ts'
import { createKeyRing } from './key-ring.ts'

/**
 * Issues the tokens of service accounts: signed JWTs that are bound to an account, and on request to one object beside it,
 * and that are good for as long as these exist.
 *
 * @see API protocol specification, 2.12 and 5.1
 */

/** An object that a token dies with. */
export interface BoundObject {
  readonly kind: 'Pod' | 'Secret' | 'Node'
  readonly name: string
  readonly uid: string
  /** Of a pod: the node it runs on, as far as it is known. For the holder's information. */
  readonly node?: { readonly name: string; readonly uid: string }
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
  /** Milliseconds since the epoch: when the holder should have another one at the latest. */
  readonly expiresAt: number
  readonly audiences: readonly string[]
  /** Lifetime that was asked for, or less where the issuer allows no more. */
  readonly expirationSeconds?: number
  /** Name of the token in the audit trail: `JTI=<uuid>`. */
  readonly credentialId?: string
}

export interface ServiceAccountIssuer {
  /** Name of the issuer in tokens, such as `https://kubernetes.default.svc`. */
  readonly issuer: string
  issue(request: TokenRequest): Promise<IssuedToken>
  /** The token that a Secret of type `<domain>/service-account-token` holds: it does not expire. Absent: none are issued. */
  issueLegacy?(request: LegacyClaims): Promise<string>
}

export interface ServiceAccountKeys {
  /** Name of the issuer: an https URL where others shall find the keys. */
  readonly issuer: string
  /** Earlier names of the issuer, whose tokens are still believed. */
  readonly formerIssuers?: readonly string[]
  /** Audiences of the server itself; the first tokens are issued for when nobody asks for others. Default: the issuers. */
  readonly audiences?: readonly string[]
  /** Private key that signs: RSA, or EC on P-256, P-384 or P-521. */
  readonly signingKey: KeyObject
  /** Further public keys that are believed: those of earlier signers. */
  readonly verificationKeys?: readonly KeyObject[]
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'uuid' | 'bytes'>
  readonly profile: Pick<NamingProfile, 'apiDomain' | 'domain' | 'vendor'>
}

export interface ServiceAccountIssuerOptions {
  /** Longest life of a token, in seconds. Default: what was asked for. */
  readonly maxExpirationSeconds?: number
  /**
   * Lets the tokens that are mounted into pods live for a year, and notes each use after the time asked for: for programs
   * that read their token once. Default false.
   */
  readonly extendMountedTokens?: boolean
}

/** The lifetime, in seconds, by which a token that is mounted into a pod and may live on is recognised. */
export const extendableTokenSeconds = 3607
const extendedSeconds = 365 * 24 * 60 * 60

/** Audiences of the server itself. */
export function serverAudiencesOf({ issuer, formerIssuers = [], audiences }: ServiceAccountKeys): readonly string[] {
  return audiences ?? [issuer, ...formerIssuers]
}

/** @throws AuthenticationError `InvalidIssuer` when a key cannot be used. */
export function createServiceAccountIssuer(
  keys: ServiceAccountKeys,
  rules: ServiceAccountIssuerOptions = {},
): ServiceAccountIssuer {
  const { issuer, clock, random, profile } = keys
  const ring = createKeyRing(keys.signingKey, [])
  const own = serverAudiencesOf(keys)
  return {
    issuer,
    async issue({ namespace, name, uid, audiences, expirationSeconds: asked, bound }) {
      const now = Math.floor(clock.now() / 1000)
      const wanted = audiences.length > 0 ? audiences : own
      const seconds = Math.min(asked, rules.maxExpirationSeconds ?? Number.POSITIVE_INFINITY)
      const extended =
        rules.extendMountedTokens === true &&
        bound?.kind === 'Pod' &&
        seconds === extendableTokenSeconds &&
        wanted.every((audience) => own.includes(audience))
      const id = random.uuid()
      const reference = ({ name, uid }: { name: string; uid: string }) => (uid === '' ? { name } : { name, uid })
      const claims = {
        aud: [...wanted],
        exp: now + (extended ? extendedSeconds : seconds),
        iat: now,
        iss: issuer,
        jti: id,
        [profile.domain]: {
          namespace,
          ...(bound?.node === undefined ? {} : { node: reference(bound.node) }),
          ...(bound === undefined ? {} : { [bound.kind.toLowerCase()]: reference(bound) }),
          serviceaccount: { name, uid },
          ...(extended ? { warnafter: now + seconds } : {}),
        },
        nbf: now,
        sub: serviceAccountUsername(namespace, name),
      }
      return {
        token: await ring.sign(claims),
        expiresAt: (now + seconds) * 1000,
        audiences: wanted,
        expirationSeconds: seconds,
        credentialId: `JTI=${id}`,
      }
    },
    issueLegacy: (request) => ring.sign(writeLegacyClaims(request, profile)),
  }
}
