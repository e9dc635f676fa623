import { DecodeError } from '../errors.ts'

/**
 * How large decoded objects may be.
 *
 * Small bodies may stand for large objects: an empty message or `{}` in a list becomes a struct with all members that are always
 * printed. Decoders therefore count what they build and stop at a limit, before the object takes memory and time.
 *
 * The count is a lower bound of the JSON text: no object whose text is within the limit is refused. Every value counts what its text
 * takes at least, strings their length, and members their key, quotes, colon and comma.
 */

/** The count of one decoding. */
export class DecodedSize {
  readonly #maxBytes: number
  /** Of the count that is used now, and of the other. */
  #max: number
  #otherMax: number
  #used = 0
  #otherUsed = 0
  #apart = false

  /**
   * @param maxBytes bytes of JSON that an object may have. What is not stored as it was sent (`status`, owners of fields, values
   *   that a repetition replaces) counts apart, to twice as much.
   */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#max = maxBytes
    this.#otherMax = 2 * maxBytes
  }

  /** Bytes counted so far, without what counts apart. */
  get bytes(): number {
    return this.#apart ? this.#otherUsed : this.#used
  }

  get maxBytes(): number {
    return this.#maxBytes
  }

  /** @throws DecodeError `TooLarge` */
  add(bytes: number): void {
    this.#used += bytes
    if (this.#used > this.#max) throw new DecodeError('TooLarge', `more than ${this.#maxBytes} bytes`)
  }

  /** Decides to which count the following is added. @returns how it was before */
  setApart(apart: boolean): boolean {
    const before = this.#apart
    if (apart === before) return before
    this.#apart = apart
    const [max, used] = [this.#max, this.#used]
    this.#max = this.#otherMax
    this.#used = this.#otherUsed
    this.#otherMax = max
    this.#otherUsed = used
    return before
  }

  /**
   * A value that was counted gives way to another one: it counts apart from now on.
   *
   * @param least what it counts at least, where little space in the body makes as much work.
   */
  replace(value: unknown, least = 0): void {
    const weight = jsonWeight(value)
    if (!this.#apart) this.#used = Math.max(0, this.#used - weight)
    this.addUnkept(Math.max(weight, least))
  }

  /** Something was read that the object does not keep. */
  addUnkept(bytes = unkeptBytes): void {
    const before = this.setApart(true)
    this.add(bytes)
    this.setApart(before)
  }

  /** What `read` counts, without adding it. @throws DecodeError `TooLarge` beyond the bound of what counts apart */
  weigh<V>(read: () => V): { readonly value: V; readonly bytes: number } {
    const before = this.setApart(true)
    const used = this.#used
    const value = read()
    const bytes = this.#used - used
    this.#used = used
    this.setApart(before)
    return { value, bytes }
  }
}

/** What a value that is not kept counts at least, for the work that it makes. */
export const unkeptBytes = 16

/** Counts, and refuses nothing. */
export function unlimitedSize(): DecodedSize {
  return new DecodedSize(Number.POSITIVE_INFINITY)
}

/** Bytes that the JSON text of a value has at least. */
export function jsonWeight(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return value.length + 2
    case 'boolean':
      return 4
    case 'object':
      break
    default:
      return 1
  }
  if (value === null) return 4
  let weight = 1
  if (Array.isArray(value)) {
    for (const element of value) weight += 1 + jsonWeight(element)
    return Math.max(2, weight)
  }
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key]
    if (member !== undefined) weight += key.length + 4 + jsonWeight(member)
  }
  return Math.max(2, weight)
}
