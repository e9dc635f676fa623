import { formatIP, parseIP } from '@krmkit/base/ip'

/**
 * The canonical text of an address that may be proxied to: not unspecified, loopback, link-local, multicast or broadcast. Private addresses
 * are allowed. Thus, users who can write the status of a pod or node do not gain access to services on the machine of the server.
 * Connections must use the returned text, because resolvers may interpret the text in the object differently.
 */
export function proxyableAddress(text: string): string | undefined {
  const ip = parseIP(text)
  if (ip === undefined) return undefined
  const isProxyable = ip.family === 4 ? isProxyableV4(ip.bytes.slice(-4)) : isProxyableV6(ip.bytes)
  return isProxyable ? formatIP(ip.bytes) : undefined
}

function isProxyableV4(bytes: Uint8Array): boolean {
  const [a = 0, b = 0] = bytes
  if (bytes.every((byte) => byte === 0) || bytes.every((byte) => byte === 255)) return false
  return a !== 127 && !(a === 169 && b === 254) && (a & 0xf0) !== 224
}

function isProxyableV6(bytes: Uint8Array): boolean {
  const [a = 0, b = 0] = bytes
  // `::` and `::1`
  if (bytes.slice(0, -1).every((byte) => byte === 0) && (bytes[15] ?? 0) < 2) return false
  return a !== 0xff && !(a === 0xfe && (b & 0xc0) === 0x80)
}

/** Host and port of a URL; without a port when it is undefined. */
export function hostAndPort({ host, port }: { readonly host: string; readonly port: number | undefined }): string {
  const bracketed = host.includes(':') ? `[${host}]` : host
  return port === undefined ? bracketed : `${bracketed}:${port}`
}
