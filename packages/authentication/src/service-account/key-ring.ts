import { createPublicKey, type KeyObject } from 'node:crypto'
import { AuthenticationError } from '../authentication-error.ts'
import { algorithmOf, isSignedBy, keyIdOf, publicJwk, signToken, type UnverifiedToken, type VerificationKey } from '../jwt.ts'

/** A public key that verifies service account tokens. */
interface RingKey extends VerificationKey {
  readonly id: string
  readonly key: KeyObject
}

/** The signing key and all verification keys. */
export interface KeyRing {
  sign(claims: Record<string, unknown>): Promise<string>
  /** Verifies `token` with the key of its key id, or with every key if it has none. */
  hasSigned(token: string, read: UnverifiedToken): Promise<boolean>
  /** Algorithms of the keys, sorted. */
  readonly algorithms: readonly string[]
  /** The public keys as a JSON Web Key Set. */
  readonly jwks: { readonly keys: readonly Readonly<Record<string, string>>[] }
}

/**
 * Creates a key ring.
 *
 * @param signingKey private key: RSA, or EC on P-256, P-384 or P-521.
 * @param verificationKeys additional public keys.
 * @throws AuthenticationError `InvalidIssuer` for unsupported keys.
 */
export function createKeyRing(signingKey: KeyObject, verificationKeys: readonly KeyObject[]): KeyRing {
  const own = ringKeyOf(createPublicKey(signingKey))
  const keys = [own, ...verificationKeys.map(ringKeyOf)].filter(
    ({ id }, index, all) => all.findIndex((other) => other.id === id) === index,
  )
  return {
    sign: (claims) => signToken(claims, { key: signingKey, id: own.id, algorithm: own.algorithm }),
    async hasSigned(token, { keyId }) {
      for (const key of keyId === undefined ? keys : keys.filter(({ id }) => id === keyId)) {
        if (await isSignedBy(token, key)) return true
      }
      return false
    },
    algorithms: [...new Set(keys.map(({ algorithm }) => algorithm))].sort(),
    jwks: {
      keys: keys.map(({ id, algorithm, key }) => ({ use: 'sig', ...publicJwk(key), kid: id, alg: algorithm })),
    },
  }
}

function ringKeyOf(key: KeyObject): RingKey {
  const algorithm = algorithmOf(key)
  if (algorithm === undefined) {
    throw new AuthenticationError({
      code: 'InvalidIssuer',
      message: 'service account keys must be RSA, or EC on P-256, P-384 or P-521',
    })
  }
  return { id: keyIdOf(key), algorithm, key }
}
