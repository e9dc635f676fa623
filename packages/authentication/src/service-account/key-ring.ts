import { createPublicKey, type KeyObject } from 'node:crypto'
import { AuthenticationError } from '../authentication-error.ts'
import { algorithmOf, isSignedBy, keyIdOf, publicJwk, signToken, type UnverifiedToken, type VerificationKey } from '../jwt.ts'

/** A public key that tokens of service accounts may be signed with. */
interface RingKey extends VerificationKey {
  readonly id: string
  readonly key: KeyObject
}

/** The key that signs, and all that are believed. */
export interface KeyRing {
  sign(claims: Record<string, unknown>): Promise<string>
  /** Whether one of the keys has signed `token`: the one it names, or any when it names none. */
  hasSigned(token: string, read: UnverifiedToken): Promise<boolean>
  /** Algorithms of the keys, in order. */
  readonly algorithms: readonly string[]
  /** The public keys as a JSON Web Key Set. */
  readonly jwks: { readonly keys: readonly Readonly<Record<string, string>>[] }
}

/**
 * @param signingKey private; RSA, or EC on P-256, P-384 or P-521.
 * @param believed public keys of earlier signers.
 * @throws AuthenticationError `InvalidIssuer` when a key is of another kind.
 */
export function createKeyRing(signingKey: KeyObject, believed: readonly KeyObject[]): KeyRing {
  const own = ringKeyOf(createPublicKey(signingKey))
  const keys = [own, ...believed.map(ringKeyOf)].filter(
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
      message: 'tokens of service accounts are signed with RSA, or with EC on P-256, P-384 or P-521',
    })
  }
  return { id: keyIdOf(key), algorithm, key }
}
