import type { Clock } from '@krmkit/meta'

const initialMs = 1000
const maxMs = 15 * 60_000

/**
 * Delays the deletion of failed pods on a node, because the replacement would probably fail too: 1 second, doubled up to 15
 * minutes.
 */
export class FailedPodBackoff {
  readonly #clock: Clock
  readonly #entries = new Map<string, { readonly delayMs: number; readonly sinceMs: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Records a deletion if the backoff has passed. @returns the remaining delay in milliseconds; zero: the pod may be deleted
   */
  tryDelete(key: string): number {
    const now = this.#clock.now()
    for (const [other, { sinceMs }] of this.#entries) {
      if (now - sinceMs <= 2 * maxMs) break
      this.#entries.delete(other)
    }
    const entry = this.#entries.get(key)
    const waitMs = entry === undefined ? 0 : entry.sinceMs + entry.delayMs - now
    if (waitMs > 0) return waitMs
    this.#entries.delete(key)
    this.#entries.set(key, { delayMs: entry === undefined ? initialMs : Math.min(maxMs, entry.delayMs * 2), sinceMs: now })
    return 0
  }
}
