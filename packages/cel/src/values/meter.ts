import type { Pattern } from '../pattern/pattern.ts'
import type { Progress } from './pauses.ts'
import type { ErrorValue } from './values.ts'

/**
 * Cost of an evaluation.
 *
 * `cost` is counted as on kube-apiserver. `work` counts what the CEL cost omits: deep comparisons, repeated scans of long
 * strings, matching. The work limit only stops evaluations that would stall the server.
 */

/** Thrown to stop an evaluation and caught by `Program`; has no stack. */
export class LimitExceeded {
  readonly message = 'operation cancelled: actual cost limit exceeded'
}

/** Work budget shared by several evaluations, such as those of one request. */
export interface WorkBudget {
  remaining: number
}

/**
 * Creates the work budget that all evaluations of one request share. It bounds them to a few seconds.
 *
 * @example
 * import { compileExpression, createWorkBudget, Environment } from '@krmkit/cel'
 * const compiled = compileExpression(Environment.ofRelease('1.33'), '[1, 2].all(x, x > 0)')
 * if ('problem' in compiled) throw new Error(compiled.problem)
 * const work = createWorkBudget()
 * compiled.program.evaluate({}, { work }).value // true
 */
export function createWorkBudget(): WorkBudget {
  return { remaining: 60_000_000 }
}

/** Work allowed per unit of cost limit. */
const workFactor = 20
/** Minimum work limit: enough to visit an object once. */
const minWork = 10_000_000

/** Compiled regular expressions by source; compiling is charged to the meter. */
export interface PatternCache {
  get(source: string, meter: Meter): Pattern | ErrorValue
}

export interface MeterOptions {
  readonly limit: number
  readonly patterns: PatternCache
  readonly work?: WorkBudget | undefined
  /** Work limit of this evaluation. Default: proportional to `limit`. */
  readonly workLimit?: number
}

export class Meter {
  readonly limit: number
  readonly patterns: PatternCache
  readonly #workLimit: number
  readonly #shared: WorkBudget | undefined
  /** Set for evaluations that may pause. */
  progress: Progress | undefined
  cost = 0
  work = 0

  constructor({ limit, patterns, work: shared, workLimit = Math.max(minWork, limit * workFactor) }: MeterOptions) {
    this.limit = limit
    this.patterns = patterns
    this.#shared = shared
    this.#workLimit = Math.min(workLimit, shared?.remaining ?? Number.POSITIVE_INFINITY)
  }

  /** @throws LimitExceeded */
  charge(cost: number): void {
    this.cost += cost
    if (this.cost > this.limit) throw new LimitExceeded()
  }

  /** @throws LimitExceeded */
  chargeWork(steps: number): void {
    this.work += steps
    if (this.work > this.#workLimit) throw new LimitExceeded()
  }

  /** Resets the counters, before evaluation restarts at the root of the expression. */
  restart(): void {
    this.cost = 0
    this.work = 0
    this.progress?.restart()
  }

  /** Deducts the work of this evaluation from the shared budget. */
  deductWork(): void {
    if (this.#shared !== undefined) this.#shared.remaining -= this.work
  }
}
