import { memberNames, type Work } from '@krmkit/meta/work'
import { DecodeError } from '../errors.ts'

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
   * @param maxBytes limit in bytes of JSON. Values that are not stored as sent (`status`, `managedFields`, replaced duplicates)
   * have
   *   a separate counter with twice this limit.
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
   * Measures what `read` counts, without adding it.
   *
   * @throws DecodeError `TooLarge` beyond the limit of the separate counter
   */
  measure<V>(read: () => V): { readonly value: V; readonly bytes: number } {
    const before = this.useSeparateCount(true)
    const used = this.#used
    const value = read()
    const bytes = this.#used - used
    this.#used = used
    this.useSeparateCount(before)
    return { value, bytes }
  }

  /** As `measure`, with pauses. */
  *measureSteps<V>(steps: Work<V>): Work<{ readonly value: V; readonly bytes: number }> {
    const before = this.useSeparateCount(true)
    const used = this.#used
    const value = yield* steps
    const bytes = this.#used - used
    this.#used = used
    this.useSeparateCount(before)
    return { value, bytes }
  }
}

/** Minimum count of a discarded value, for the work of reading it. */
export const minDiscardedBytes = 16

/** A counter without a limit. */
export function unlimitedSize(): DecodedSize {
  return new DecodedSize(Number.POSITIVE_INFINITY)
}

/**
 * As `jsonWeight`, with pauses.
 *
 * @param known keys of large objects in the value; some of the members may be absent.
 * @example
 * import { runAtOnce } from '@krmkit/meta/work'
 * import { jsonWeightSteps } from '@krmkit/schema/decode'
 * runAtOnce(jsonWeightSteps({ a: [1] })) // a number that grows with the printed length
 */
export function* jsonWeightSteps(value: unknown, known?: ReadonlyMap<object, readonly string[]>): Work<number> {
  if (typeof value !== 'object' || value === null) return jsonWeight(value)
  const isList = Array.isArray(value)
  const keys = known?.get(value) ?? memberNames(value)
  if (keys.length > membersPerStep) yield true
  let weight = 1
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const member = (value as Record<string, unknown>)[key]
    const frame = isList ? 1 : key.length + 4
    if (isList || member !== undefined) {
      weight += frame + (typeof member === 'object' ? yield* jsonWeightSteps(member, known) : jsonWeight(member))
    }
    if (i % membersPerStep === membersPerStep - 1) yield
  }
  return Math.max(2, weight)
}

/** Members weighed between two yields. */
const membersPerStep = 128

/**
 * Lower bound of the length of the JSON text of a value, in bytes.
 *
 * @example
 * import { jsonWeight } from '@krmkit/schema/decode'
 * jsonWeight({ a: '1' }) // 9
 * @see {@link DecodedSize}
 */
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
