import type { KeyObject } from 'node:crypto'

/**
 * The one way into jose: signing and checking JSON Web Tokens. Loaded on first use.
 */
export type Claims = { aud?: string | string[]; exp?: number; iat?: number; nbf?: number; iss?: string } & Record<string, unknown>

export type Verified =
  | { readonly kind: 'good'; readonly claims: Claims }
  /** No JWT, or one of another issuer. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'bad'; readonly reason: string }

const maxTokenLength = 16 * 1024
/** Seconds that clocks may differ by. */
const clockSkewSeconds = 10

/** The algorithm that belongs to a key: never chosen by the token. */
function algorithmOf(key: KeyObject): string {
  if (key.asymmetricKeyType === 'rsa') return 'RS256'
  const curve = key.asymmetricKeyDetails?.namedCurve
  return curve === 'secp384r1' ? 'ES384' : curve === 'secp521r1' ? 'ES512' : 'ES256'
}

export async function signToken(claims: Claims, key: KeyObject): Promise<string> {
  const { SignJWT } = await import('jose')
  return new SignJWT(claims).setProtectedHeader({ alg: algorithmOf(key), typ: 'JWT' }).sign(key)
}

/** Tries every believed key with the algorithm that belongs to it. */
export async function verifyToken(
  token: string,
  { issuer, keys, nowMs }: { readonly issuer: string; readonly keys: readonly KeyObject[]; readonly nowMs: number },
): Promise<Verified> {
  if (token.length > maxTokenLength || token.split('.').length !== 3) return { kind: 'foreign' }
  const { decodeJwt, jwtVerify } = await import('jose')
  try {
    if (decodeJwt(token).iss !== issuer) return { kind: 'foreign' }
  } catch {
    return { kind: 'foreign' }
  }
  let reason = 'no key is believed'
  for (const key of keys) {
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [algorithmOf(key)],
        issuer,
        currentDate: new Date(nowMs),
        clockTolerance: clockSkewSeconds,
        requiredClaims: ['exp', 'sub'],
      })
      return { kind: 'good', claims: payload as Claims }
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error)
    }
  }
  return { kind: 'bad', reason }
}
