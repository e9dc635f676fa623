import { createHash, type KeyObject } from 'node:crypto'

/**
 * The one way into jose: signing JSON Web Tokens and checking their signatures. What the claims mean, and whether their time
 * has come, is for others to say. jose is loaded on first use.
 */

export type Claims = { aud?: unknown; exp?: unknown; iat?: unknown; nbf?: unknown; iss?: unknown; sub?: unknown } & Record<
  string,
  unknown
>

/** A token as it was written, before anybody has checked its signature. */
export interface UnverifiedToken {
  readonly algorithm: string
  readonly keyId: string | undefined
  readonly claims: Claims
}

/** A public key, the name tokens call it by, and the one algorithm that it is for: never chosen by the token. */
export interface VerificationKey {
  readonly id: string | undefined
  readonly algorithm: string
  readonly key: KeyObject | CryptoKey
}

type CryptoKey = import('node:crypto').webcrypto.CryptoKey

const maxTokenLength = 16 * 1024

/** Whether a text has the outward form of a token: three parts. */
export function isJwtShaped(text: string): boolean {
  const first = text.indexOf('.')
  if (first < 1 || text.length > maxTokenLength) return false
  const second = text.indexOf('.', first + 1)
  return second > first + 1 && text.indexOf('.', second + 1) < 0
}

/** Reads a token without believing it; undefined when it is none, or too long to be one. */
export function decodeToken(token: string): UnverifiedToken | undefined {
  if (token.length > maxTokenLength || !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return undefined
  const [head = '', body = ''] = token.split('.')
  const header = decodeJsonObject(head)
  const claims = decodeJsonObject(body)
  if (header === undefined || claims === undefined) return undefined
  const { alg, kid } = header
  // Extensions change what is signed, and none of them is for tokens.
  if (Object.hasOwn(header, 'crit') || Object.hasOwn(header, 'b64')) return undefined
  return {
    algorithm: typeof alg === 'string' ? alg : '',
    keyId: typeof kid === 'string' && kid !== '' ? kid : undefined,
    claims,
  }
}

function decodeJsonObject(part: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : undefined
  } catch {
    return undefined
  }
}

/** Whether the signature of `token` is by `key` with the algorithm of `key`. */
export async function isSignedBy(token: string, { key, algorithm }: VerificationKey): Promise<boolean> {
  const { compactVerify } = await import('jose')
  try {
    await compactVerify(token, key, { algorithms: [algorithm] })
    return true
  } catch {
    return false
  }
}

export async function signToken(
  claims: Claims,
  signer: { readonly key: KeyObject; readonly id: string; readonly algorithm: string },
): Promise<string> {
  const { CompactSign } = await import('jose')
  const bytes = new TextEncoder().encode(JSON.stringify(claims))
  return new CompactSign(bytes).setProtectedHeader({ alg: signer.algorithm, kid: signer.id }).sign(signer.key)
}

/** The algorithm that tokens are signed with by a key of ours. */
export function algorithmOf(key: KeyObject): string | undefined {
  if (key.asymmetricKeyType === 'rsa') return 'RS256'
  if (key.asymmetricKeyType !== 'ec') return undefined
  const curve = key.asymmetricKeyDetails?.namedCurve
  return curve === 'prime256v1' ? 'ES256' : curve === 'secp384r1' ? 'ES384' : curve === 'secp521r1' ? 'ES512' : undefined
}

/** The name of a public key: the digest of its DER form. */
export function keyIdOf(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
}

/** Members of a JSON Web Key that say which key it is. */
export function publicJwk(publicKey: KeyObject): Record<string, string> {
  const { kty, n, e, crv, x, y } = publicKey.export({ format: 'jwk' })
  const members = { kty, crv, n, e, x, y }
  return Object.fromEntries(Object.entries(members).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

const familyOf: Readonly<Record<string, { readonly kty: string; readonly crv?: string }>> = {
  RS256: { kty: 'RSA' },
  RS384: { kty: 'RSA' },
  RS512: { kty: 'RSA' },
  PS256: { kty: 'RSA' },
  PS384: { kty: 'RSA' },
  PS512: { kty: 'RSA' },
  ES256: { kty: 'EC', crv: 'P-256' },
  ES384: { kty: 'EC', crv: 'P-384' },
  ES512: { kty: 'EC', crv: 'P-521' },
}

/** Algorithms with which others may sign: asymmetric ones alone. */
export const signingAlgorithms: readonly string[] = Object.keys(familyOf)

/** A key of a set, for one algorithm; undefined when it is not for that: another type, another use, a secret. */
export async function verificationKey(jwk: unknown, algorithm: string): Promise<VerificationKey | undefined> {
  if (typeof jwk !== 'object' || jwk === null) return undefined
  const { kty, crv, use, alg, kid, n, e, x, y } = jwk as Record<string, unknown>
  const family = Object.hasOwn(familyOf, algorithm) ? familyOf[algorithm] : undefined
  if (family === undefined || kty !== family.kty || (family.crv !== undefined && crv !== family.crv)) return undefined
  if ((use !== undefined && use !== 'sig') || (alg !== undefined && alg !== algorithm)) return undefined
  const { importJWK } = await import('jose')
  try {
    // Only what makes a public key: private parts that somebody published do not matter here.
    const key = await importJWK({ kty, crv, n, e, x, y } as object, algorithm)
    if (key instanceof Uint8Array) return undefined
    return { id: typeof kid === 'string' ? kid : undefined, algorithm, key: key as CryptoKey }
  } catch {
    return undefined
  }
}
