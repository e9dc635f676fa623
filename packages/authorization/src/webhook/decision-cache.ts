import type { Clock } from '@krmkit/meta'
import type { Decision } from '../interfaces.ts'

/** Decisions that are kept until a time, at most so many: the first that was put in goes first. */
export class DecisionCache {
  readonly #entries = new Map<string, { readonly decision: Decision; readonly until: number }>()
  readonly #clock: Pick<Clock, 'now'>
  readonly #size: number

  constructor(clock: Pick<Clock, 'now'>, size: number) {
    this.#clock = clock
    this.#size = size
  }

  get(key: string): Decision | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (this.#clock.now() < entry.until) return entry.decision
    this.#entries.delete(key)
    return undefined
  }

  keep(key: string, decision: Decision, ms: number): void {
    if (ms <= 0) return
    this.#entries.delete(key)
    if (this.#entries.size >= this.#size) this.#entries.delete(this.#entries.keys().next().value ?? '')
    this.#entries.set(key, { decision, until: this.#clock.now() + ms })
  }
}
