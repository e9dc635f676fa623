import type { Clock } from '@krmkit/meta'

/** What is kept until a time, at most so much of it: the first that was put in goes first. */
export class BoundedCache<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly until: number }>()
  readonly #clock: Pick<Clock, 'now'>
  readonly #size: number

  constructor(options: { readonly clock: Pick<Clock, 'now'>; readonly size: number }) {
    this.#clock = options.clock
    this.#size = options.size
  }

  get count(): number {
    return this.#entries.size
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (this.#clock.now() < entry.until) return entry.value
    this.#entries.delete(key)
    return undefined
  }

  /** Keeps `value` until `until`, in milliseconds since the epoch. */
  set(key: string, value: V, until: number): void {
    this.#entries.delete(key)
    if (until <= this.#clock.now() || this.#size < 1) return
    if (this.#entries.size >= this.#size) this.#makeRoom()
    this.#entries.set(key, { value, until })
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }

  #makeRoom(): void {
    const oldest = this.#entries.keys().next().value
    if (oldest !== undefined) this.#entries.delete(oldest)
  }
}
