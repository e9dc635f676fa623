import { seededRandom } from '@krmkit/meta'

/** Repeatable chance: the same seed throws the same numbers. */
export class Dice {
  #bytes: Uint8Array = new Uint8Array(0)
  #at = 0
  readonly #random: ReturnType<typeof seededRandom>

  constructor(seed: number) {
    this.#random = seededRandom(seed)
  }

  /** A whole number from 0 up to, without, `limit`. */
  below(limit: number): number {
    if (this.#at + 4 > this.#bytes.length) {
      this.#bytes = this.#random.bytes(256)
      this.#at = 0
    }
    const at = this.#at
    this.#at += 4
    const [a = 0, b = 0, c = 0, d = 0] = this.#bytes.subarray(at, at + 4)
    return (((a << 24) | (b << 16) | (c << 8) | d) >>> 0) % limit
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T
  }

  chance(percent: number): boolean {
    return this.below(100) < percent
  }

  bytes(length: number): Uint8Array {
    return this.#random.bytes(length)
  }
}
