import { base64UrlText, utf8Bytes } from '@krmkit/base/bytes'

/**
 * Detached JWS signatures. This is the only module of the package that uses jose, which is loaded on first use.
 *
 *     BASE64URL(header) ".." BASE64URL(signature)
 */

const algorithm = 'HS256'

/** Signs `content`; `keyId` identifies the secret for verifiers. */
export async function signDetached(content: string, options: { readonly keyId: string; readonly key: string }): Promise<string> {
  const { CompactSign } = await import('jose')
  const encoder = new TextEncoder()
  const signing = new CompactSign(encoder.encode(content)).setProtectedHeader({ alg: algorithm, kid: options.keyId })
  const [header, , signature] = (await signing.sign(encoder.encode(options.key))).split('.')
  return `${header}..${signature}`
}

/** Verifies an HS256 `signature` of `content`; other algorithms are rejected. */
export async function isSignedDetached(
  content: string,
  signature: string,
  options: { readonly keyId: string; readonly key: string },
): Promise<boolean> {
  const [header = '', payload, bytes = '', ...rest] = signature.split('.')
  if (payload !== '' || rest.length > 0) return false
  const { compactVerify } = await import('jose')
  const attached = `${header}.${base64UrlText(utf8Bytes(content))}.${bytes}`
  try {
    const { protectedHeader } = await compactVerify(attached, new TextEncoder().encode(options.key), { algorithms: [algorithm] })
    // Critical headers may change the signed content; valid signatures never use them.
    return protectedHeader.kid === options.keyId && protectedHeader.crit === undefined
  } catch {
    return false
  }
}
