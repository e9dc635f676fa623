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

/** Values of an attribute in the subject of a certificate, as text. @throws RangeError when it is none. */
export function subjectAttribute(certificate: Uint8Array, oid: string): string[] {
  const [outer] = elementsOf(certificate)
  const [body] = elementsOf(outer!.content)
  const members = elementsOf(body!.content)
  // version [0] is optional; then serial number, algorithm, issuer, validity, subject
  const subject = members[members[0]?.tag === 0xa0 ? 5 : 4]
  const values: string[] = []
  for (const { content: names } of elementsOf(subject!.content)) {
    for (const { content: pair } of elementsOf(names)) {
      const [type, value] = elementsOf(pair)
      if (type !== undefined && value !== undefined && oidOf(type.content) === oid)
        values.push(Buffer.from(value.content).toString('utf8'))
    }
  }
  return values
}
