import type { KeyObject } from 'node:crypto'
import type { Clock, NamingProfile, Random } from '@krmkit/meta'
import { type LegacyClaims, serviceAccountUsername, writeLegacyClaims } from './claims.ts'
import { createKeyRing } from './key-ring.ts'

/**
 * Issues service account tokens: signed JWTs bound to an account, and optionally to one more object. A token is valid only while these
 * objects exist.
 *
 * @see API protocol specification, 2.12 and 5.1
 */

/** The object that a token is bound to. */
export interface BoundObject {
  readonly kind: 'Pod' | 'Secret' | 'Node'
  readonly name: string
  readonly uid: string
  /** For pods: the node, if known. Informational. */
  readonly node?: { readonly name: string; readonly uid: string }
}

/** A request for a bound token of the service account `namespace`/`name`. */
export interface TokenRequest {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Empty: the audiences of the API server. */
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
  readonly bound?: BoundObject
}

export interface IssuedToken {
  readonly token: string
  /** Time by which the holder must refresh the token, in milliseconds since the epoch. */
  readonly expiresAt: number
  readonly audiences: readonly string[]
  /** Granted lifetime: as requested, but at most the maximum of the issuer. */
  readonly expirationSeconds?: number
  /** Credential id in audit events: `JTI=<uuid>`. */
  readonly credentialId?: string
}

export interface ServiceAccountIssuer {
  /** Issuer identifier, such as `https://kubernetes.default.svc`. */
  readonly issuer: string
  issue(request: TokenRequest): Promise<IssuedToken>
  /** Issues the non-expiring token of a Secret of type `<domain>/service-account-token`. Absent: not supported. */
  issueLegacy?(request: LegacyClaims): Promise<string>
}

/** Identity and keys of a service account issuer. */
export interface ServiceAccountKeys {
  /** Issuer identifier; an https URL when relying parties should discover the keys. */
  readonly issuer: string
  /** Former issuer identifiers whose tokens are still accepted. */
  readonly formerIssuers?: readonly string[]
  /** Audiences of the API server, which are the default audiences of issued tokens. Default: the issuer identifiers. */
  readonly audiences?: readonly string[]
  /** Private signing key: RSA, or EC on P-256, P-384 or P-521. */
  readonly signingKey: KeyObject
  /** Additional public keys for verification, such as those of former signing keys. */
  readonly verificationKeys?: readonly KeyObject[]
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'uuid' | 'bytes'>
  readonly profile: Pick<NamingProfile, 'apiDomain' | 'domain' | 'vendor'>
}

export interface ServiceAccountIssuerOptions {
  /** Maximum lifetime of a token, in seconds. Default: unlimited. */
  readonly maxExpirationSeconds?: number
  /**
   * Extends pod tokens with the lifetime `extendableTokenSeconds` to one year, and annotates audit events of uses after the
   * requested lifetime; intended for programs that never reload their token. Default true.
   */
  readonly extendMountedTokens?: boolean
  /** Whether tokens have an id (gate `ServiceAccountTokenJTI`). Default true. */
  readonly tokenIds?: boolean
}

/** The requested lifetime, in seconds, that marks an extendable token. Kubelets request it for tokens mounted into pods. */
export const extendableTokenSeconds = 3607
const extendedSeconds = 365 * 24 * 60 * 60

/** Returns the audiences of the API server. */
export function serverAudiencesOf({ issuer, formerIssuers = [], audiences }: ServiceAccountKeys): readonly string[] {
  return audiences ?? [issuer, ...formerIssuers]
}

/**
 * Creates a service account token issuer.
 *
 * @throws AuthenticationError `InvalidIssuer` for unsupported keys.
 * @example
 * ```ts
 * import { generateKeyPairSync } from 'node:crypto'
 * import { createServiceAccountIssuer } from '@krmkit/authentication/service-account'
 * import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
 *
 * const signingKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
 * const environment = { clock: systemClock, random: systemRandom, profile: stockProfile }
 * const issuer = createServiceAccountIssuer({ ...environment, issuer: 'https://api.example.com', signingKey })
 * const account = { namespace: 'shop', name: 'web', uid: '2f6e0a1c' }
 * const { audiences } = await issuer.issue({ ...account, audiences: [], expirationSeconds: 3600 })
 * audiences // ['https://api.example.com']
 * ```
 */
export function createServiceAccountIssuer(
  keys: ServiceAccountKeys,
  options: ServiceAccountIssuerOptions = {},
): ServiceAccountIssuer {
  const { issuer, clock, random, profile } = keys
  const ring = createKeyRing(keys.signingKey, [])
  const serverAudiences = serverAudiencesOf(keys)
  return {
    issuer,
    async issue({ namespace, name, uid, audiences, expirationSeconds: requestedSeconds, bound }) {
      const now = Math.floor(clock.now() / 1000)
      const wanted = audiences.length > 0 ? audiences : serverAudiences
      const seconds = Math.min(requestedSeconds, options.maxExpirationSeconds ?? Number.POSITIVE_INFINITY)
      const extended =
        options.extendMountedTokens !== false &&
        bound?.kind === 'Pod' &&
        seconds === extendableTokenSeconds &&
        wanted.every((audience) => serverAudiences.includes(audience))
      const id = options.tokenIds === false ? undefined : random.uuid()
      const reference = ({ name, uid }: { name: string; uid: string }) => (uid === '' ? { name } : { name, uid })
      const claims = {
        aud: [...wanted],
        exp: now + (extended ? extendedSeconds : seconds),
        iat: now,
        iss: issuer,
        ...(id === undefined ? {} : { jti: id }),
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
        ...(id === undefined ? {} : { credentialId: `JTI=${id}` }),
      }
    },
    issueLegacy: (request) => ring.sign(writeLegacyClaims(request, profile)),
  }
}
