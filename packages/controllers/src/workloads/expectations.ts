import type { Clock } from '@krmkit/meta'

/** Time after which an expected event counts as lost. */
const expiryMs = 5 * 60_000

interface Pending {
  creations: number
  readonly deletions: Set<string>
  readonly sinceMs: number
}

/**
 * Created and deleted pods whose events the informer has not delivered yet. Until all events are delivered, the informer
 * shows too few or too many pods, and the controller must not act on their number.
 */
export class Expectations {
  readonly #clock: Clock
  readonly #pending = new Map<string, Pending>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Replaces the expectations of an owner. Call it before the requests. */
  expect(owner: string, { creations = 0, deletions = [] }: { creations?: number; deletions?: Iterable<string> }): void {
    this.#pending.set(owner, { creations, deletions: new Set(deletions), sinceMs: this.#clock.now() })
  }

  /** Records a creation whose event arrived, or will not arrive because the request failed. */
  created(owner: string): void {
    const pending = this.#pending.get(owner)
    if (pending !== undefined) pending.creations--
  }

  /** Records a deletion whose event arrived, or will not arrive because the request failed. */
  deleted(owner: string, uid: string | undefined): void {
    this.#pending.get(owner)?.deletions.delete(uid ?? '')
  }

  forget(owner: string): void {
    this.#pending.delete(owner)
  }

  /** Returns how long to wait for events, in milliseconds; zero when all have arrived or count as lost. */
  waitMs(owner: string): number {
    const pending = this.#pending.get(owner)
    if (pending === undefined || (pending.creations <= 0 && pending.deletions.size === 0)) return 0
    return Math.max(0, pending.sinceMs + expiryMs - this.#clock.now())
  }
}
