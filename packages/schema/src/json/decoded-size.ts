import { DecodeError } from '../schema-error.ts'
import { jsonWeight } from './json-weight.direct.ts'

/**
 * Size limit for decoded objects.
 *
 * Small bodies can expand to large objects: an empty message or `{}` in a list becomes a struct with every member that is always
 * printed. Decoders count what they build and stop at a limit, before the object takes memory and time.
 *
 * The count is a lower bound of the JSON text, so an object whose text is within the limit is never rejected. A value counts the
 * minimum of its text, a string its length, a member its key, quotes, colon and comma.
 */

/**
 * Size counter of one decoding.
 *
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { applyDefaults, decode, DecodedSize } from '@krmkit/schema'
 * const configMap = builtInTypes().struct('core/v1.ConfigMap')
 * const size = new DecodedSize(1_500_000)
 * const { object } = decode(configMap, { data: { a: '1' } }, { size })
 * // Throws a DecodeError `TooLarge` when the object with its defaults exceeds the limit.
 * applyDefaults(configMap, object, { size }).data // { a: '1' }
 */
export class DecodedSize {
  readonly #maxBytes: number
  /** Limit and count of the active counter, followed by those of the inactive one. */
  #max: number
  #otherMax: number
  #used = 0
  #otherUsed = 0
  #separate = false

  /**
   * @param maxBytes limit in bytes of JSON. Values that are not stored as sent (`status`, `managedFields`, replaced
   *   duplicates) have a separate counter with twice this limit.
   */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#max = maxBytes
    this.#otherMax = 2 * maxBytes
  }

  /** Bytes counted so far by the main counter. */
  get bytes(): number {
    return this.#separate ? this.#otherUsed : this.#used
  }

  get maxBytes(): number {
    return this.#maxBytes
  }

  /** @throws DecodeError `TooLarge` */
  add(bytes: number): void {
    this.#used += bytes
    if (this.#used > this.#max) throw new DecodeError({ code: 'TooLarge', message: `more than ${this.#maxBytes} bytes` })
  }

  /**
   * Selects the separate counter (true) or the main one (false).
   *
   * @returns the previous selection
   */
  useSeparateCount(separate: boolean): boolean {
    const before = this.#separate
    if (separate === before) return before
    this.#separate = separate
    const [max, used] = [this.#max, this.#used]
    this.#max = this.#otherMax
    this.#used = this.#otherUsed
    this.#otherMax = max
    this.#otherUsed = used
    return before
  }

  /**
   * Moves a replaced value from the main counter to the separate one.
   *
   * @param least minimum to count, for work that takes little space in the body.
   */
  replace(value: unknown, least = 0): void {
    const weight = jsonWeight(value)
    if (!this.#separate) this.#used = Math.max(0, this.#used - weight)
    this.addDiscarded(Math.max(weight, least))
  }

  /** Counts a value that was read and discarded. */
  addDiscarded(bytes = minDiscardedBytes): void {
    const before = this.useSeparateCount(true)
    this.add(bytes)
    this.useSeparateCount(before)
  }

  /**
   * Starts measuring the size of a value without adding it. Until {@link endMeasure}, the separate counter is selected.
   *
   * @returns the state to pass to `endMeasure`
   */
  beginMeasure(): SizeMeasure {
    const wasSeparate = this.useSeparateCount(true)
    return { wasSeparate, used: this.#used }
  }

  /** Ends measuring. @returns bytes counted since `beginMeasure` */
  endMeasure({ wasSeparate, used }: SizeMeasure): number {
    const bytes = this.#used - used
    this.#used = used
    this.useSeparateCount(wasSeparate)
    return bytes
  }
}

interface SizeMeasure {
  readonly wasSeparate: boolean
  readonly used: number
}

/** Minimum count of a discarded value, for the work of reading it. */
export const minDiscardedBytes = 16

/** A counter without a limit. */
export function unlimitedSize(): DecodedSize {
  return new DecodedSize(Number.POSITIVE_INFINITY)
}
