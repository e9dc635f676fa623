import type { Patterns } from './patterns.ts'

/**
 * What an evaluation has cost so far.
 *
 * `cost` is counted as on the stock server. `work` counts what that leaves out: comparing what is deep, reading long texts again
 * and again, matching; it only ends what would stall the server.
 */

/** Thrown, and caught by `Program`; carries no stack. */
export class LimitExceeded {
  readonly message = 'operation cancelled: actual cost limit exceeded'
}

/** Work that several evaluations share, such as those of one request. */
export interface WorkBudget {
  left: number
}

/** Steps of work that the evaluations of one request may take: some seconds at worst. */
export function requestWork(): WorkBudget {
  return { left: 60_000_000 }
}

/** Steps of work for each unit of cost that is allowed. */
const workFactor = 20
/** Evaluations with small limits may still look at an object once. */
const minWork = 10_000_000

export interface MeterOptions {
  readonly limit: number
  readonly patterns: Patterns
  readonly work?: WorkBudget | undefined
}

export class Meter {
  readonly limit: number
  readonly patterns: Patterns
  readonly #workLimit: number
  readonly #shared: WorkBudget | undefined
  cost = 0
  work = 0

  constructor({ limit, patterns, work: shared }: MeterOptions) {
    this.limit = limit
    this.patterns = patterns
    this.#shared = shared
    this.#workLimit = Math.min(Math.max(minWork, limit * workFactor), shared?.left ?? Number.POSITIVE_INFINITY)
  }

  /** @throws LimitExceeded */
  charge(cost: number): void {
    this.cost += cost
    if (this.cost > this.limit) throw new LimitExceeded()
  }

  /** @throws LimitExceeded */
  labor(steps: number): void {
    this.work += steps
    if (this.work > this.#workLimit) throw new LimitExceeded()
  }

  /** Takes what has been done from what is shared. */
  settle(): void {
    if (this.#shared !== undefined) this.#shared.left -= this.work
  }
}
