/**
 * Reproducible pseudo-random choices for tests: the same seed gives the same sequence. Cheap to create, so that every case of a test run
 * can have its own.
 *
 * @example
 * ```ts
 * import { RandomChoices } from '@krmkit/base/random-choices'
 *
 * const random = new RandomChoices(7)
 * const verb = random.pick(['create', 'update', 'delete'])
 * ```
 */
export class RandomChoices {
  #state: number

  /** @param sequence number of one of many independent sequences of the seed */
  constructor(seed: number, sequence?: number) {
    this.#state =
      (sequence === undefined ? seed : Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(sequence + 1, 0xc2b2ae35)) >>> 0
  }

  /** An integer from 0 to 2^32 - 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }

  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number {
    return this.next() % limit
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T
  }

  /** True with a probability of `percent` in 100. */
  chance(percent: number): boolean {
    return this.below(100) < percent
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256))
  }
}
