import { createHmac, type KeyObject, sign } from 'node:crypto'

/** A token that an attacker could craft: arbitrary header, claims and signature. */
export interface ForgedToken {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
  /** Private key, or the secret of an HMAC; absent for no signature. */
  readonly signer?: KeyObject | string
}

/**
 * Crafts a token. RSA and EC keys sign with SHA-256.
 *
 * @example
 * ```ts
 * import { forgeToken } from '@krmkit/authentication/testing'
 *
 * forgeToken({ header: { alg: 'none' }, claims: { sub: 'admin' } }) // 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.'
 * ```
 */
export function forgeToken({ header, claims, signer }: ForgedToken): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part(header)}.${part(claims)}`
  return `${signed}.${signatureOf(signed, signer)}`
}

function signatureOf(text: string, signer: KeyObject | string | undefined): string {
  if (signer === undefined) return ''
  if (typeof signer === 'string') return createHmac('sha256', signer).update(text).digest('base64url')
  return sign('sha256', Buffer.from(text), { key: signer, dsaEncoding: 'ieee-p1363' }).toString('base64url')
}
