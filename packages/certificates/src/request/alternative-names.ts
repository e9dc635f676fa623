import { ascii, DerReader, der, readIa5, sequence, tags } from '@krmkit/meta/der'
import { malformed } from '../certificate-error.ts'

/** The subject alternative names. Other types of names are ignored, and never issued. */
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
 * @throws CertificateError `Malformed`; MetaError `InvalidDer`
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
  if (content.length === 4) return content.join('.')
  if (content.length !== 16) throw malformed(`subjectAltName: cannot parse IP address of length ${content.length}`)
  const groups: number[] = []
  for (let i = 0; i < 16; i += 2) groups.push(content[i]! * 256 + content[i + 1]!)
  const { start, length } = longestZeroRun(groups)
  const text = (part: readonly number[]) => part.map((group) => group.toString(16)).join(':')
  return length < 2 ? text(groups) : `${text(groups.slice(0, start))}::${text(groups.slice(start + length))}`
}

/** The first of the longest runs of zero groups. */
function longestZeroRun(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 }
  let length = 0
  for (const [index, group] of groups.entries()) {
    length = group === 0 ? length + 1 : 0
    if (length > best.length) best = { start: index - length + 1, length }
  }
  return best
}

/** @throws CertificateError `Malformed` for invalid addresses. */
function ipBytes(text: string): Uint8Array {
  const bytes = text.includes(':') ? ipv6Bytes(text) : ipv4Bytes(text)
  if (bytes === undefined) throw malformed(`${JSON.stringify(text)} is not an IP address`)
  return bytes
}

function ipv4Bytes(text: string): Uint8Array | undefined {
  const parts = text.split('.')
  return parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)
    ? Uint8Array.from(parts.map(Number))
    : undefined
}

/** Eight groups, with at most one `::`; the last two may be written as an IPv4 address. */
function ipv6Bytes(text: string): Uint8Array | undefined {
  const tail = text.slice(text.lastIndexOf(':') + 1)
  const narrow = tail.includes('.') ? ipv4Bytes(tail) : undefined
  if (tail.includes('.') && narrow === undefined) return undefined
  const pairs = narrow && [narrow[0]! * 256 + narrow[1]!, narrow[2]! * 256 + narrow[3]!].map((pair) => pair.toString(16))
  const plain = pairs === undefined ? text : `${text.slice(0, -tail.length)}${pairs.join(':')}`
  const halves = plain.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const groups = halves.flat()
  const isWhole = halves.length === 1 ? groups.length === 8 : halves.length === 2 && groups.length < 8
  if (!isWhole || !groups.every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group))) return undefined
  const [head = [], rest = []] = halves
  const all = [...head, ...new Array<string>(8 - groups.length).fill('0'), ...rest]
  return Uint8Array.from(all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]))
}
