import type { Clock } from '@krmkit/meta'

/** Answers that count for a while. The ones longest unused go when there are too many. */
export class ExpiringCache<T> {
  readonly #clock: Clock
  readonly #capacity: number
  readonly #entries = new Map<string, { readonly value: T; readonly until: number }>()

  constructor(clock: Clock, capacity = 1024) {
    this.#clock = clock
    this.#capacity = capacity
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    if (entry.until <= this.#clock.now()) return undefined
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: string, value: T, ms: number): void {
    if (ms <= 0) return
    this.#entries.delete(key)
    this.#entries.set(key, { value, until: this.#clock.now() + ms })
    const oldest = this.#entries.size > this.#capacity ? this.#entries.keys().next() : undefined
    if (oldest?.done === false) this.#entries.delete(oldest.value)
  }
}
