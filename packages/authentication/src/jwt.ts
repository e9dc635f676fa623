import type { KeyObject } from 'node:crypto'
import { base64Bytes, base64UrlText, utf8Text } from '@krmkit/base/bytes'
import { digest } from '@krmkit/base/platform'
import { isJsonObject } from '@krmkit/meta'

/**
 * Signs JSON Web Tokens and verifies their signatures; claims are validated elsewhere. This is the only module of the package that uses
 * jose, which is loaded on first use.
 */

export type Claims = { aud?: unknown; exp?: unknown; iat?: unknown; nbf?: unknown; iss?: unknown; sub?: unknown } & Record<
  string,
  unknown
>

/** A decoded token whose signature is not verified. */
export interface UnverifiedToken {
  readonly algorithm: string
  readonly keyId: string | undefined
  readonly claims: Claims
}

/** A public key with its key id and its only permitted algorithm; the `alg` header of a token cannot select another. */
export interface VerificationKey {
  readonly id: string | undefined
  readonly algorithm: string
  readonly key: KeyObject | CryptoKey
}

type CryptoKey = import('node:crypto').webcrypto.CryptoKey

const maxTokenLength = 16 * 1024

/**
 * Whether a text has the three parts of a JWT.
 *
 * @example
 * ```ts
 * import { isJwtShaped } from '@krmkit/authentication'
 *
 * isJwtShaped('eyJhbGciOiJSUzI1NiJ9.e30.c2ln') // true
 * isJwtShaped('s3cret') // false
 * ```
 */
export function isJwtShaped(text: string): boolean {
  const first = text.indexOf('.')
  if (first < 1 || text.length > maxTokenLength) return false
  const second = text.indexOf('.', first + 1)
  return second > first + 1 && text.indexOf('.', second + 1) < 0
}

/** Decodes a token without verifying it; undefined when it is malformed or too long. */
export function decodeToken(token: string): UnverifiedToken | undefined {
  if (token.length > maxTokenLength || !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return undefined
  const [head = '', body = ''] = token.split('.')
  const header = decodeJsonObject(head)
  const claims = decodeJsonObject(body)
  if (header === undefined || claims === undefined) return undefined
  const { alg, kid } = header
  // These header parameters change the signed content; valid tokens never use them.
  if (Object.hasOwn(header, 'crit') || Object.hasOwn(header, 'b64')) return undefined
  return {
    algorithm: typeof alg === 'string' ? alg : '',
    keyId: typeof kid === 'string' && kid !== '' ? kid : undefined,
    claims,
  }
}

function decodeJsonObject(part: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(utf8Text(base64Bytes(part)))
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Verifies the signature of `token` with `key` and the algorithm of `key`. */
export async function isSignedBy(token: string, { key, algorithm }: VerificationKey): Promise<boolean> {
  const { compactVerify } = await import('jose')
  try {
    await compactVerify(token, key, { algorithms: [algorithm] })
    return true
  } catch {
    return false
  }
}

/** Signs claims as a compact JWS. */
export async function signToken(
  claims: Claims,
  signer: { readonly key: KeyObject; readonly id: string; readonly algorithm: string },
): Promise<string> {
  const { CompactSign } = await import('jose')
  const bytes = new TextEncoder().encode(JSON.stringify(claims))
  return new CompactSign(bytes).setProtectedHeader({ alg: signer.algorithm, kid: signer.id }).sign(signer.key)
}

/** The algorithm that a service account key signs with; undefined for unsupported keys. */
export function algorithmOf(key: KeyObject): string | undefined {
  if (key.asymmetricKeyType === 'rsa') return 'RS256'
  if (key.asymmetricKeyType !== 'ec') return undefined
  const curve = key.asymmetricKeyDetails?.namedCurve
  return curve === 'prime256v1' ? 'ES256' : curve === 'secp384r1' ? 'ES384' : curve === 'secp521r1' ? 'ES512' : undefined
}

/** Key id: SHA-256 of the SubjectPublicKeyInfo, as kube-apiserver computes it. */
export function keyIdOf(publicKey: KeyObject): string {
  return base64UrlText(digest('sha256', [publicKey.export({ type: 'spki', format: 'der' })]))
}

/** The public members of a JSON Web Key. */
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

/** Algorithms with which issuers may sign: asymmetric only. */
export const signingAlgorithms: readonly string[] = Object.keys(familyOf)

/** Imports a key of a key set for one algorithm; undefined when type, use or algorithm do not match, or the key is symmetric. */
export async function verificationKey(jwk: unknown, algorithm: string): Promise<VerificationKey | undefined> {
  if (typeof jwk !== 'object' || jwk === null) return undefined
  const { kty, crv, use, alg, kid, n, e, x, y } = jwk as Record<string, unknown>
  const family = Object.hasOwn(familyOf, algorithm) ? familyOf[algorithm] : undefined
  if (family === undefined || kty !== family.kty || (family.crv !== undefined && crv !== family.crv)) return undefined
  if ((use !== undefined && use !== 'sig') || (alg !== undefined && alg !== algorithm)) return undefined
  const { importJWK } = await import('jose')
  try {
    // Private members that were published by mistake are ignored.
    const key = await importJWK({ kty, crv, n, e, x, y } as object, algorithm)
    if (key instanceof Uint8Array) return undefined
    return { id: typeof kid === 'string' ? kid : undefined, algorithm, key: key as CryptoKey }
  } catch {
    return undefined
  }
}
