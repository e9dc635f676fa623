import { BaseError } from '../base-error.ts'

/**
 * A strict DER reader without recursion: callers descend one level at a time, so the input cannot choose the depth. Encodings that are
 * BER but not DER are rejected, because two readers of the same bytes must never see different contents.
 *
 * @see ITU-T X.690, 10
 */

/** One element: `whole` includes the tag and length octets, `content` does not. Both are views of the input. */
export interface DerElement {
  readonly tag: number
  readonly content: Uint8Array
  readonly whole: Uint8Array
}

/** Tags used in certificates and certificate requests. */
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

/**
 * Reads consecutive elements. Every reading method throws a BaseError `InvalidDer`.
 *
 * @example
 * import { DerReader, integer, readSmallInteger, sequence, tags } from '@krmkit/base/der'
 * const point = sequence(integer(7), integer(42))
 * const members = new DerReader(point, 'point').into(tags.sequence)
 * readSmallInteger(members.next(tags.integer), 'x') // 7
 * readSmallInteger(members.next(tags.integer), 'y') // 42
 * members.end()
 */
export class DerReader {
  readonly #bytes: Uint8Array
  readonly #what: string
  #at = 0

  /** @param what name of the structure in error messages, such as `subject` */
  constructor(bytes: Uint8Array, what: string) {
    this.#bytes = bytes
    this.#what = what
  }

  get isEmpty(): boolean {
    return this.#at >= this.#bytes.length
  }

  /** Reads the next element; it must have `tag` when one is given. */
  next(tag?: number): DerElement {
    const start = this.#at
    const found = this.#bytes[start]
    if (found === undefined) throw malformedDer(`${this.#what}: sequence truncated`)
    if ((found & 0x1f) === 0x1f) throw malformedDer(`${this.#what}: tags above 30 are not used here`)
    if (tag !== undefined && found !== tag) throw malformedDer(`${this.#what}: tags don't match (${tag} vs ${found})`)
    const length = this.#length()
    const begin = this.#at
    const end = begin + length
    if (end > this.#bytes.length) throw malformedDer(`${this.#what}: data truncated`)
    this.#at = end
    return { tag: found, content: this.#bytes.subarray(begin, end), whole: this.#bytes.subarray(start, end) }
  }

  /** Reads the next element if it has `tag`. */
  optional(tag: number): DerElement | undefined {
    return this.#bytes[this.#at] === tag ? this.next(tag) : undefined
  }

  /** Descends into the next element. */
  into(tag: number, what = this.#what): DerReader {
    return new DerReader(this.next(tag).content, what)
  }

  /** Requires that no data is left. */
  end(): void {
    if (!this.isEmpty) throw malformedDer(`${this.#what}: trailing data`)
  }

  /** Reads the tag and length octets; leaves the position at the first content octet. */
  #length(): number {
    const first = this.#bytes[this.#at + 1]
    if (first === undefined) throw malformedDer(`${this.#what}: data truncated`)
    this.#at += 2
    if (first < 0x80) return first
    const size = first & 0x7f
    if (size === 0) throw malformedDer(`${this.#what}: indefinite length found (not DER)`)
    if (size > 4) throw malformedDer(`${this.#what}: length too large`)
    let length = 0
    for (let i = 0; i < size; i++) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw malformedDer(`${this.#what}: data truncated`)
      if (i === 0 && byte === 0) throw malformedDer(`${this.#what}: superfluous leading zeros in length`)
      length = length * 256 + byte
    }
    if (length < 0x80) throw malformedDer(`${this.#what}: non-minimal length`)
    return length
  }
}

/**
 * Reads `bytes` as exactly one element with `tag`.
 *
 * @throws BaseError `InvalidDer`
 * @example
 * import { octetString, readWhole, tags } from '@krmkit/base/der'
 * const { content } = readWhole(octetString(Uint8Array.of(5, 6)), tags.octetString, 'key identifier')
 * content.length // 2
 */
export function readWhole(bytes: Uint8Array, tag: number, what: string): DerElement {
  const reader = new DerReader(bytes, what)
  const element = reader.next(tag)
  reader.end()
  return element
}

/**
 * Reads an OBJECT IDENTIFIER as dotted decimals, such as `1.2.840.113549`.
 *
 * @throws BaseError `InvalidDer`
 * @example
 * import { oid, readOid, readWhole, tags } from '@krmkit/base/der'
 * readOid(readWhole(oid('2.5.29.19'), tags.oid, 'extension'), 'extension') // '2.5.29.19'
 */
export function readOid({ content }: DerElement, what: string): string {
  if (content.length === 0 || content.length > 64) throw malformedDer(`${what}: object identifier of impossible length`)
  const arcs: bigint[] = []
  let arc = 0n
  let isNew = true
  for (const byte of content) {
    if (isNew && byte === 0x80) throw malformedDer(`${what}: object identifier is not minimal`)
    arc = arc * 128n + BigInt(byte & 0x7f)
    isNew = byte < 0x80
    if (!isNew) continue
    arcs.push(arc)
    arc = 0n
  }
  if (!isNew) throw malformedDer(`${what}: object identifier truncated`)
  const [first = 0n, ...rest] = arcs
  const top = first < 80n ? first / 40n : 2n
  return [top, first - top * 40n, ...rest].join('.')
}

/** Reads a non-negative INTEGER of at most 48 bits. @throws BaseError `InvalidDer` @see {@link DerReader} */
export function readSmallInteger(element: DerElement, what: string): number {
  const bytes = readUnsigned(element, what)
  if (bytes.length > 6) throw malformedDer(`${what}: integer too large`)
  return bytes.reduce((sum, byte) => sum * 256 + byte, 0)
}

/** Reads a non-negative INTEGER as big-endian bytes without leading zeros. @throws BaseError `InvalidDer` @see {@link DerReader} */
export function readUnsigned({ content }: DerElement, what: string): Uint8Array {
  const [first, second] = content
  if (first === undefined) throw malformedDer(`${what}: empty integer`)
  if (second !== undefined && ((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80)))
    throw malformedDer(`${what}: integer not minimally-encoded`)
  if (first >= 0x80) throw malformedDer(`${what}: negative integer`)
  return first === 0 ? content.subarray(1) : content
}

/**
 * Reads a BIT STRING whose length is a multiple of eight.
 *
 * @throws BaseError `InvalidDer`
 * @example
 * import { bitString, readBitString, readWhole, tags } from '@krmkit/base/der'
 * readBitString(readWhole(bitString(Uint8Array.of(255)), tags.bitString, 'signature'), 'signature').length // 1
 */
export function readBitString({ content }: DerElement, what: string): Uint8Array {
  if (content[0] !== 0) throw malformedDer(`${what}: bit string is not of whole bytes`)
  return content.subarray(1)
}

/**
 * Reads a BOOLEAN.
 *
 * @throws BaseError `InvalidDer`
 * @example
 * import { boolean, readBoolean, readWhole, tags } from '@krmkit/base/der'
 * readBoolean(readWhole(boolean(true), tags.boolean, 'isCA'), 'isCA') // true
 */
export function readBoolean({ content }: DerElement, what: string): boolean {
  const [byte] = content
  if (content.length !== 1 || (byte !== 0 && byte !== 0xff)) throw malformedDer(`${what}: invalid boolean`)
  return byte === 0xff
}

/**
 * Creates the error of malformed input: a BaseError `InvalidDer`.
 *
 * @example
 * import { isDerError, malformedDer } from '@krmkit/base/der'
 * isDerError(malformedDer('certificate: data truncated')) // true
 */
export function malformedDer(message: string): BaseError {
  return new BaseError({ code: 'InvalidDer', message })
}

/** Whether an error is the `InvalidDer` of this reader, not a programming error. @see {@link malformedDer} */
export function isDerError(error: unknown): error is BaseError {
  return error instanceof BaseError && error.code === 'InvalidDer'
}
