import { DerReader, directoryString, oid, readOid, readText, sequence, setOf, tags } from '@krmkit/base/der'

/** A decoded distinguished name, with the attributes that common certificate libraries expose. */
export interface DistinguishedName {
  /** The last common name; empty when there is none. */
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly organizationalUnits: readonly string[]
  readonly countries: readonly string[]
  readonly localities: readonly string[]
  readonly provinces: readonly string[]
  readonly streetAddresses: readonly string[]
  readonly postalCodes: readonly string[]
  /** The last serial number; empty when there is none. */
  readonly serialNumber: string
  /** All attributes in order, including those above. */
  readonly attributes: readonly NameAttribute[]
}

export interface NameAttribute {
  readonly oid: string
  /** Undefined for values that are not strings. */
  readonly text: string | undefined
}

/** Attribute types that are decoded to lists, in encoding order. */
const lists = [
  ['countries', '2.5.4.6'],
  ['organizations', '2.5.4.10'],
  ['organizationalUnits', '2.5.4.11'],
  ['localities', '2.5.4.7'],
  ['provinces', '2.5.4.8'],
  ['streetAddresses', '2.5.4.9'],
  ['postalCodes', '2.5.4.17'],
] as const
const commonNameOid = '2.5.4.3'
const serialNumberOid = '2.5.4.5'

/** Attribute names in `CN=a,O=b`. */
const shortNames: Readonly<Record<string, string>> = {
  [commonNameOid]: 'CN',
  [serialNumberOid]: 'SERIALNUMBER',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.9': 'STREET',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
  '2.5.4.17': 'POSTALCODE',
}

/**
 * Decodes a distinguished name.
 *
 * @param content contents of the outer sequence
 * @throws BaseError `InvalidDer`
 */
export function readDistinguishedName(content: Uint8Array): DistinguishedName {
  const attributes: NameAttribute[] = []
  const names = new DerReader(content, 'subject')
  while (!names.isEmpty) {
    const set = names.into(tags.set)
    // Other parsers accept empty sets, too.
    while (!set.isEmpty) {
      const pair = set.into(tags.sequence)
      const type = readOid(pair.next(tags.oid), 'subject')
      const text = readText(pair.next(), 'subject')
      pair.end()
      attributes.push({ oid: type, text })
    }
  }
  const valuesOf = (type: string) =>
    attributes.flatMap(({ oid: attributeType, text }) => (attributeType === type && text !== undefined ? [text] : []))
  const found = Object.fromEntries(lists.map(([name, type]) => [name, valuesOf(type)])) as Record<
    (typeof lists)[number][0],
    string[]
  >
  return {
    ...found,
    commonName: valuesOf(commonNameOid).at(-1) ?? '',
    serialNumber: valuesOf(serialNumberOid).at(-1) ?? '',
    attributes,
  }
}

export type NameToWrite = Partial<Omit<DistinguishedName, 'attributes'>>

/**
 * Encodes a name from its decoded form, in a fixed order. Unknown attributes and additional common names are dropped.
 */
export function writeDistinguishedName(name: NameToWrite): Uint8Array<ArrayBuffer> {
  const attribute = (type: string, text: string) => sequence(oid(type), directoryString(text))
  const sets: Uint8Array[] = []
  for (const [member, type] of lists) {
    const values = name[member] ?? []
    if (values.length > 0) sets.push(setOf(...values.map((text) => attribute(type, text))))
  }
  if (name.commonName) sets.push(setOf(attribute(commonNameOid, name.commonName)))
  if (name.serialNumber) sets.push(setOf(attribute(serialNumberOid, name.serialNumber)))
  return sequence(...sets)
}

/**
 * Formats all attributes as `CN=a,O=b`, with special characters escaped.
 *
 * @see RFC 4514
 * @example
 * ```ts
 * import { formatDistinguishedName } from '@krmkit/certificates/request'
 *
 * const attributes = [{ oid: '2.5.4.10', text: 'dev, test' }, { oid: '2.5.4.3', text: 'jane' }]
 * formatDistinguishedName({ attributes }) // 'O=dev\\, test,CN=jane'
 * ```
 */
export function formatDistinguishedName({ attributes }: Pick<DistinguishedName, 'attributes'>): string {
  return attributes
    .map(({ oid: type, text }) => `${shortNames[type] ?? type}=${text === undefined ? '#' : escaped(text)}`)
    .join(',')
}

/** @see RFC 4514, 2.4 */
function escaped(text: string): string {
  const special = text.replace(/[,+"\\<>;=]/g, '\\$&').replace(/^[ #]/, '\\$&')
  const inner = special.replace(/[\p{Cc}\p{Cf}]/gu, (char) => Array.from(new TextEncoder().encode(char), hexEscape).join(''))
  return /[^\\] $/.test(inner) ? `${inner.slice(0, -1)}\\ ` : inner
}

function hexEscape(byte: number): string {
  return `\\${byte.toString(16).padStart(2, '0')}`
}
