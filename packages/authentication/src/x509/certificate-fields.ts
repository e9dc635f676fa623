/** Just enough of DER to read what node does not tell about a certificate: its extensions. */

/** One element: where its content lies in the whole. */
export interface Element {
  readonly tag: number
  readonly content: Uint8Array
}

/** The elements of a content, one after the other. @throws RangeError when they do not add up. */
export function elementsOf(content: Uint8Array): Element[] {
  const elements: Element[] = []
  for (let at = 0; at < content.length; ) {
    const { element, next } = readElement(content, at)
    elements.push(element)
    at = next
  }
  return elements
}

function readElement(bytes: Uint8Array, start: number): { element: Element; next: number } {
  const tag = bytes[start]
  const first = bytes[start + 1]
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) throw new RangeError('not DER')
  let length = first
  let at = start + 2
  if (first >= 0x80) {
    const size = first & 0x7f
    if (size === 0 || size > 4) throw new RangeError('not DER')
    length = 0
    for (let i = 0; i < size; i++) length = length * 256 + (bytes[at + i] ?? 0)
    at += size
  }
  const next = at + length
  if (next > bytes.length) throw new RangeError('not DER')
  return { element: { tag, content: bytes.subarray(at, next) }, next }
}

/** `1.2.840.113549` of the content of an OBJECT IDENTIFIER. */
export function oidOf(content: Uint8Array): string {
  const arcs: number[] = []
  let arc = 0
  for (const byte of content) {
    arc = arc * 128 + (byte & 0x7f)
    if (byte < 0x80) {
      arcs.push(arc)
      arc = 0
    }
  }
  const [first = 0, ...rest] = arcs
  const top = Math.min(2, Math.floor(first / 40))
  return [top, first - top * 40, ...rest].join('.')
}

/** An extension of a certificate. */
export interface Extension {
  readonly oid: string
  readonly critical: boolean
  /** DER of its value. */
  readonly value: Uint8Array
}

const sequence = 0x30
const explicitExtensions = 0xa3
const booleanTag = 0x01

/** The extensions of a certificate in DER. @throws RangeError when it is none. */
export function extensionsOf(certificate: Uint8Array): Extension[] {
  const [outer] = elementsOf(certificate)
  const [body] = elementsOf(outer!.content)
  const wrapped = elementsOf(body!.content).find(({ tag }) => tag === explicitExtensions)
  if (wrapped === undefined) return []
  const [list] = elementsOf(wrapped.content)
  if (list?.tag !== sequence) throw new RangeError('not a list of extensions')
  return elementsOf(list.content).map(({ content }) => {
    const [oid, ...rest] = elementsOf(content)
    const value = rest.at(-1)
    const critical = rest.length > 1 && rest[0]!.tag === booleanTag && rest[0]!.content[0] !== 0
    if (oid === undefined || value === undefined) throw new RangeError('not an extension')
    return { oid: oidOf(oid.content), critical, value: value.content }
  })
}

/** Texts of the subject of a certificate, by the object identifier of the attribute, in order. */
export type SubjectTexts = ReadonlyMap<string, readonly string[]>

/**
 * The subject of a certificate.
 *
 * @throws RangeError when it, or one of its texts, cannot be read: an attribute that is left out would make another user of it.
 */
export function subjectTexts(certificate: Uint8Array): SubjectTexts {
  const [outer] = elementsOf(certificate)
  const [body] = elementsOf(outer!.content)
  const members = elementsOf(body!.content)
  // version [0] is optional; then serial number, algorithm, issuer, validity, subject
  const subject = members[members[0]?.tag === 0xa0 ? 5 : 4]
  if (subject?.tag !== sequence) throw new RangeError('not a subject')
  const texts = new Map<string, string[]>()
  for (const { content: names } of elementsOf(subject.content)) {
    for (const { content: pair } of elementsOf(names)) {
      const [type, value, ...more] = elementsOf(pair)
      if (type?.tag !== identifier || value === undefined || more.length > 0) throw new RangeError('not an attribute')
      const oid = oidOf(type.content)
      const known = texts.get(oid)
      if (known === undefined) texts.set(oid, [textIn(value)])
      else known.push(textIn(value))
    }
  }
  return texts
}

const identifier = 0x06
const stringTypes: Readonly<Record<number, (content: Uint8Array) => string>> = {
  // UTF8String
  12: (content) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content),
  // NumericString
  18: (content) => matching(content, /^[0-9 ]*$/),
  // PrintableString; `*` and `&` are used although they do not belong to it.
  19: (content) => matching(content, /^[A-Za-z0-9 '()+,\-./:=?*&]*$/),
  // TeletexString, in practice Latin-1
  20: (content) => Buffer.from(content).toString('latin1'),
  // IA5String
  22: (content) => matching(content, /^[\0-\x7f]*$/),
  // BMPString
  30: (content) => {
    if (content.length % 2 !== 0) throw new RangeError('not a text')
    return new TextDecoder('utf-16be', { fatal: true, ignoreBOM: true }).decode(content)
  },
}

function textIn({ tag, content }: Element): string {
  const read = stringTypes[tag]
  if (read === undefined) throw new RangeError('not a text')
  try {
    return read(content)
  } catch {
    throw new RangeError('not a text')
  }
}

function matching(content: Uint8Array, form: RegExp): string {
  const text = Buffer.from(content).toString('latin1')
  if (!form.test(text)) throw new RangeError('not a text')
  return text
}
