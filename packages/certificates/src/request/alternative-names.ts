import { DerReader, malformed, tags } from '../der/reader.ts'
import { readIa5 } from '../der/strings.ts'
import { ascii, der, sequence } from '../der/writer.ts'

/** Other names of a subject. Kinds that are not here are left out, as they are by every signer of this package. */
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

/** @param value of the extension subjectAltName @throws CertificateError `Malformed` */
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

/** The value of the extension. */
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
  const groups: string[] = []
  for (let i = 0; i < 16; i += 2) groups.push((content[i]! * 256 + content[i + 1]!).toString(16))
  const runs = [...groups.join(':').matchAll(/(?:^|:)0(?::0)+(?=:|$)/g)].sort((a, b) => b[0].length - a[0].length)
  const [longest] = runs
  const text = groups.join(':')
  if (longest === undefined) return text
  const before = text.slice(0, longest.index)
  return `${before}::${text.slice(longest.index + longest[0].length).replace(/^:/, '')}`
}

function ipBytes(text: string): Uint8Array {
  if (!text.includes(':')) return Uint8Array.from(text.split('.').map(Number))
  const [head = '', tail] = text.split('::')
  const groupsOf = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const first = groupsOf(head)
  const last = tail === undefined ? [] : groupsOf(tail)
  const groups = [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last]
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]))
}
