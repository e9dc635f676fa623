/**
 * The one way into jose: signatures that stand beside what they sign. jose is loaded on first use.
 *
 *     BASE64URL(header) ".." BASE64URL(signature)
 */

const algorithm = 'HS256'

/** Signs `content`; `keyId` tells whoever checks which secret was used. */
export async function signDetached(content: string, options: { readonly keyId: string; readonly key: string }): Promise<string> {
  const { CompactSign } = await import('jose')
  const encoder = new TextEncoder()
  const signing = new CompactSign(encoder.encode(content)).setProtectedHeader({ alg: algorithm, kid: options.keyId })
  const [header, , signature] = (await signing.sign(encoder.encode(options.key))).split('.')
  return `${header}..${signature}`
}

/** Whether `signature` is one of `content` by `key`, of HS256 and no other algorithm. */
export async function isSignedDetached(
  content: string,
  signature: string,
  options: { readonly keyId: string; readonly key: string },
): Promise<boolean> {
  const [header = '', payload, bytes = '', ...rest] = signature.split('.')
  if (payload !== '' || rest.length > 0) return false
  const { compactVerify } = await import('jose')
  const attached = `${header}.${Buffer.from(content).toString('base64url')}.${bytes}`
  try {
    const { protectedHeader } = await compactVerify(attached, new TextEncoder().encode(options.key), { algorithms: [algorithm] })
    // Extensions change what is signed, and none of them is wanted here.
    return protectedHeader.kid === options.keyId && protectedHeader.crit === undefined
  } catch {
    return false
  }
}
