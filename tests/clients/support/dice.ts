import { seededRandom } from '@krmkit/meta'

/** Reproducible random numbers: the same seed gives the same sequence. */
export class Dice {
  #bytes: Uint8Array = new Uint8Array(0)
  #at = 0
  readonly #random: ReturnType<typeof seededRandom>

  constructor(seed: number) {
    this.#random = seededRandom(seed)
  }

  /** An integer from 0 up to, excluding, `limit`. */
  below(limit: number): number {
    if (this.#at + 4 > this.#bytes.length) {
      this.#bytes = this.#random.bytes(4096)
      this.#at = 0
    }
    const view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset + this.#at, 4)
    this.#at += 4
    return view.getUint32(0) % limit
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T
  }

  chance(percent: number): boolean {
    return this.below(100) < percent
  }
}

/** The seed of a run; `CLIENTS_SEED` repeats a failed one. */
export function runSeed(): number {
  return Number(process.env['CLIENTS_SEED'] ?? 20_261_121)
}
