import { ascii, DerReader, der, readIa5, sequence, tags } from '@krmkit/base/der'
import { formatIP, parseIP } from '@krmkit/base/ip'
import { malformed } from '../certificate-error.ts'

/** The subject alternative names. Names of other types are ignored and never issued. */
export interface AlternativeNames {
  readonly dns: readonly string[]
  readonly emails: readonly string[]
  /** Addresses as text: `10.0.0.1`, `fd00::7`. */
  readonly ips: readonly string[]
  readonly uris: readonly string[]
}

export const noAlternativeNames: AlternativeNames = { dns: [], emails: [], ips: [], uris: [] }

const emailTag = 0x81
const dnsTag = 0x82
const uriTag = 0x86
const ipTag = 0x87
const hostOfUri = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#:[\]]*)/
const hostName = /^[A-Za-z0-9_*]([A-Za-z0-9_-]{0,62})(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,62}))*$/

/**
 * Decodes the value of the extension subjectAltName.
 *
 * @throws CertificateError `Malformed`; BaseError `InvalidDer`
 */
export function readAlternativeNames(value: Uint8Array): AlternativeNames {
  const what = 'subjectAltName'
  const outer = new DerReader(value, what)
  const names = outer.into(tags.sequence)
  outer.end()
  const found = { dns: [] as string[], emails: [] as string[], ips: [] as string[], uris: [] as string[] }
  while (!names.isEmpty) {
    const { tag, content } = names.next()
    if ((tag & 0xc0) !== 0x80) throw malformed(`${what}: not a general name`)
    if (tag === emailTag) found.emails.push(readIa5(content, `${what} rfc822Name`))
    else if (tag === dnsTag) found.dns.push(readIa5(content, `${what} dNSName`))
    else if (tag === uriTag) found.uris.push(readUri(content, `${what} uniformResourceIdentifier`))
    else if (tag === ipTag) found.ips.push(readIp(content))
  }
  return found
}

/** Encodes the value of the extension subjectAltName. @throws CertificateError `Malformed` for invalid IP addresses */
export function writeAlternativeNames({ dns, emails, ips, uris }: AlternativeNames): Uint8Array<ArrayBuffer> {
  return sequence(
    ...dns.map((name) => ascii(dnsTag, name)),
    ...emails.map((name) => ascii(emailTag, name)),
    ...ips.map((name) => der(ipTag, ipBytes(name))),
    ...uris.map((name) => ascii(uriTag, name)),
  )
}

export function hasAlternativeNames({ dns, emails, ips, uris }: AlternativeNames): boolean {
  return dns.length + emails.length + ips.length + uris.length > 0
}

function readUri(content: Uint8Array, what: string): string {
  const text = readIa5(content, what)
  const host = hostOfUri.exec(text)?.[1] ?? ''
  if (/[\0- \x7f]/.test(text) || /%(?![0-9A-Fa-f]{2})/.test(text) || (host !== '' && !hostName.test(host)))
    throw malformed(`${what}: cannot parse URI`)
  return text
}

function readIp(content: Uint8Array): string {
  if (content.length !== 4 && content.length !== 16)
    throw malformed(`subjectAltName: cannot parse IP address of length ${content.length}`)
  return formatIP(content)
}

/**
 * Encodes an IP address. An IPv4-mapped address becomes an IPv4 address. @throws CertificateError `Malformed` for invalid
 * addresses
 */
function ipBytes(text: string): Uint8Array {
  const address = parseIP(text)
  if (address === undefined) throw malformed(`${JSON.stringify(text)} is not an IP address`)
  return address.family === 4 ? address.bytes.subarray(-4) : address.bytes
}
