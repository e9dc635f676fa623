import { CertificateError } from '../certificate-error.ts'

/**
 * Distinguished encoding, read strictly and without recursion: who asks goes down one level at a time, so that nothing in the
 * input decides how deep. What is not DER is refused, also where BER would let it pass: two readers of one request must never
 * see two different things.
 *
 * @see ITU-T X.690, 10
 */

/** One element: where it lies in the whole, with and without its head. */
export interface DerElement {
  readonly tag: number
  readonly content: Uint8Array
  readonly whole: Uint8Array
}

/** Tags that certificates and requests are made of. */
export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  generalString: 0x1b,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const

/** Reads elements that follow one another. @throws CertificateError `Malformed`, by every method that reads. */
export class DerReader {
  readonly #bytes: Uint8Array
  readonly #what: string
  #at = 0

  /** @param what names the whole in messages, such as `subject` */
  constructor(bytes: Uint8Array, what: string) {
    this.#bytes = bytes
    this.#what = what
  }

  get isEmpty(): boolean {
    return this.#at >= this.#bytes.length
  }

  /** The next element, which must have this tag when one is given. */
  next(tag?: number): DerElement {
    const start = this.#at
    const found = this.#bytes[start]
    if (found === undefined) throw malformed(`${this.#what}: sequence truncated`)
    if ((found & 0x1f) === 0x1f) throw malformed(`${this.#what}: tags above 30 are not used here`)
    if (tag !== undefined && found !== tag) throw malformed(`${this.#what}: tags don't match (${tag} vs ${found})`)
    const length = this.#length()
    const begin = this.#at
    const end = begin + length
    if (end > this.#bytes.length) throw malformed(`${this.#what}: data truncated`)
    this.#at = end
    return { tag: found, content: this.#bytes.subarray(begin, end), whole: this.#bytes.subarray(start, end) }
  }

  /** The next element if it has this tag. */
  optional(tag: number): DerElement | undefined {
    return this.#bytes[this.#at] === tag ? this.next(tag) : undefined
  }

  /** Goes into the next element. */
  into(tag: number, what = this.#what): DerReader {
    return new DerReader(this.next(tag).content, what)
  }

  end(): void {
    if (!this.isEmpty) throw malformed(`${this.#what}: trailing data`)
  }

  /** Leaves the position at the first byte of the content. */
  #length(): number {
    const first = this.#bytes[this.#at + 1]
    if (first === undefined) throw malformed(`${this.#what}: data truncated`)
    this.#at += 2
    if (first < 0x80) return first
    const size = first & 0x7f
    if (size === 0) throw malformed(`${this.#what}: indefinite length found (not DER)`)
    if (size > 4) throw malformed(`${this.#what}: length too large`)
    let length = 0
    for (let i = 0; i < size; i++) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw malformed(`${this.#what}: data truncated`)
      if (i === 0 && byte === 0) throw malformed(`${this.#what}: superfluous leading zeros in length`)
      length = length * 256 + byte
    }
    if (length < 0x80) throw malformed(`${this.#what}: non-minimal length`)
    return length
  }
}

/** The one element that `bytes` are, which must have this tag. @throws CertificateError `Malformed` */
export function readWhole(bytes: Uint8Array, tag: number, what: string): DerElement {
  const reader = new DerReader(bytes, what)
  const element = reader.next(tag)
  reader.end()
  return element
}

/** `1.2.840.113549`. @throws CertificateError `Malformed` */
export function readOid({ content }: DerElement, what: string): string {
  if (content.length === 0 || content.length > 64) throw malformed(`${what}: object identifier of impossible length`)
  const arcs: bigint[] = []
  let arc = 0n
  let isNew = true
  for (const byte of content) {
    if (isNew && byte === 0x80) throw malformed(`${what}: object identifier is not minimal`)
    arc = arc * 128n + BigInt(byte & 0x7f)
    isNew = byte < 0x80
    if (!isNew) continue
    arcs.push(arc)
    arc = 0n
  }
  if (!isNew) throw malformed(`${what}: object identifier truncated`)
  const [first = 0n, ...rest] = arcs
  const top = first < 80n ? first / 40n : 2n
  return [top, first - top * 40n, ...rest].join('.')
}

/** A number that is not negative and fits in 53 bits. @throws CertificateError `Malformed` */
export function readSmallInteger(element: DerElement, what: string): number {
  const bytes = readUnsigned(element, what)
  if (bytes.length > 6) throw malformed(`${what}: integer too large`)
  return bytes.reduce((sum, byte) => sum * 256 + byte, 0)
}

/** Bytes of a number that is not negative, without leading zeros. @throws CertificateError `Malformed` */
export function readUnsigned({ content }: DerElement, what: string): Uint8Array {
  const [first, second] = content
  if (first === undefined) throw malformed(`${what}: empty integer`)
  if (second !== undefined && ((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80)))
    throw malformed(`${what}: integer not minimally-encoded`)
  if (first >= 0x80) throw malformed(`${what}: negative integer`)
  return first === 0 ? content.subarray(1) : content
}

/** Bytes of a string of whole bytes. @throws CertificateError `Malformed` */
export function readBitString({ content }: DerElement, what: string): Uint8Array {
  if (content[0] !== 0) throw malformed(`${what}: bit string is not of whole bytes`)
  return content.subarray(1)
}

/** @throws CertificateError `Malformed` */
export function readBoolean({ content }: DerElement, what: string): boolean {
  const [byte] = content
  if (content.length !== 1 || (byte !== 0 && byte !== 0xff)) throw malformed(`${what}: invalid boolean`)
  return byte === 0xff
}

export function malformed(message: string, cause?: unknown): CertificateError {
  return new CertificateError({ code: 'Malformed', message, cause })
}
