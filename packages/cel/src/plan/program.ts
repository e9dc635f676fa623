import { type Pace, runPaced } from '@krmkit/base/work'
import type { Expr } from '../syntax/ast.ts'
import { LimitExceeded, type WorkBudget } from '../values/meter.ts'
import { Patterns } from '../values/patterns.ts'
import { Pause, Progress } from '../values/pauses.ts'
import { ErrorValue, type Value } from '../values/values.ts'
import { Planner } from './plan.ts'
import { Frame, PlanError, type Step } from './step.ts'

/** Cost limit of one evaluation on kube-apiserver. */
export const perCallLimit = 1_000_000

export interface EvaluationOptions {
  /** Cost limit. Default `perCallLimit`. */
  readonly limit?: number
  /** Work budget shared with other evaluations of the same request. */
  readonly work?: WorkBudget
  /** Cost and work between two pauses. Default: about a millisecond. */
  readonly pauseAfter?: number
}

/** Result of an evaluation. */
export interface Evaluation {
  /** The result, or an `ErrorValue`. */
  readonly value: Value
  readonly cost: number
  /** Whether the cost limit was exceeded. */
  readonly exceeded: boolean
}

/** Values of variables by name. */
export type Variables = Readonly<Record<string, Value | undefined>>

/** Cost from which an evaluation counts as long, so that the pace reads the clock. */
export const longEvaluation = 1000

/** About a millisecond. */
const defaultPauseAfter = 50_000

/** A paused evaluation, which lets other work run. @see {@link Program.start} */
export class PausedEvaluation {
  readonly #run: () => Evaluation
  /** The pause to wait for. An evaluation nested in a variable throws it, so that the outer evaluation pauses, too. */
  pause: Pause

  /** @param run throws `Pause` */
  constructor(run: () => Evaluation, pause: Pause) {
    this.#run = run
    this.pause = pause
  }

  /** Continues for about a millisecond. */
  resume(): Evaluation | PausedEvaluation {
    try {
      return this.#run()
    } catch (error) {
      if (!(error instanceof Pause)) throw error
      this.pause = error
      return this
    }
  }

  /** Continues to the end, yielding at each pause. @see runPaced */
  *rest(): Generator<true | Promise<void>, Evaluation> {
    for (;;) {
      yield this.pause.until ?? true
      const result = this.resume()
      if (result !== this) return result as Evaluation
    }
  }
}

/**
 * A compiled expression; can be evaluated repeatedly.
 *
 * @example
 * import { compileExpression, Environment } from '@krmkit/cel'
 * import { dynType } from '@krmkit/cel/types'
 * import { fromJson } from '@krmkit/cel/values'
 * const environment = Environment.ofRelease('1.33').with([['self', dynType]])
 * const compiled = compileExpression(environment, 'self.n < 3')
 * if ('problem' in compiled) throw new Error(compiled.problem)
 * const { value, cost } = compiled.program.evaluate({ self: fromJson({ n: 5 }) })
 * value // false
 * cost // 3
 */
export class Program {
  readonly #step: Step
  readonly #names: readonly string[]
  /** One `undefined` per slot; copying this array is faster than filling a new one. */
  readonly #empty: readonly undefined[]
  readonly #patterns = new Patterns()

  private constructor(step: Step, variables: readonly string[], slots: number) {
    this.#step = step
    this.#names = variables
    this.#empty = Array.from({ length: slots }, () => undefined)
  }

  static of(expr: Expr, variables: readonly string[]): Program | PlanError {
    const planner = new Planner(variables)
    try {
      const step = planner.plan(expr)
      return new Program(step, variables, planner.slots)
    } catch (error) {
      if (error instanceof PlanError) return error
      throw error
    }
  }

  /**
   * Evaluates the expression without pausing.
   *
   * @param variables by name; using an absent variable is an evaluation error.
   * @throws PendingAuthorization when an authorizer response is not available yet.
   */
  evaluate(variables: Variables, { limit = perCallLimit, work }: EvaluationOptions = {}): Evaluation {
    return this.#run(new Frame(this.#slotsOf(variables), { limit, patterns: this.#patterns, work }))
  }

  /**
   * As `evaluate`, but pauses an evaluation that takes long or waits for an authorizer; use it for client input. Short
   * evaluations are as fast as with `evaluate`.
   *
   * @example
   * import { compileExpression, Environment, PausedEvaluation } from '@krmkit/cel'
   * const compiled = compileExpression(Environment.ofRelease('1.33'), '[1, 2].all(x, x > 0)')
   * if ('problem' in compiled) throw new Error(compiled.problem)
   * let result = compiled.program.start({})
   * while (result instanceof PausedEvaluation) {
   *   await (result.pause.until ?? new Promise(setImmediate))
   *   result = result.resume()
   * }
   * result.value // true
   */
  start(variables: Variables, options: EvaluationOptions = {}): Evaluation | PausedEvaluation {
    const { limit = perCallLimit, work, pauseAfter = defaultPauseAfter } = options
    // Recording progress is expensive, so the first attempt runs without it, up to the point of the first pause.
    const trial = { limit: pauseAfter, patterns: this.#patterns, work, workLimit: pauseAfter }
    const frame = new Frame(this.#slotsOf(variables), trial)
    try {
      const value = this.#step(frame)
      frame.deductWork()
      return { value, cost: frame.cost, exceeded: false }
    } catch (error) {
      if (!(error instanceof LimitExceeded || error instanceof Pause)) throw error
      const whole = new Frame(this.#slotsOf(variables), { limit, patterns: this.#patterns, work })
      whole.progress = new Progress(pauseAfter)
      return new PausedEvaluation(() => this.#run(whole), error instanceof Pause ? error : new Pause())
    }
  }

  /** As `start`, but runs to the end with the given pace, which several evaluations may share. */
  async evaluateAsync(variables: Variables, pace: Pace, options?: EvaluationOptions): Promise<Evaluation> {
    const started = this.start(variables, options)
    const result = started instanceof PausedEvaluation ? await runPaced(started.rest(), pace) : started
    if (pace.due(result.cost > longEvaluation)) await pace.next()
    return result
  }

  #slotsOf(variables: Variables): (Value | undefined)[] {
    const slots: (Value | undefined)[] = this.#empty.slice()
    for (let i = 0; i < this.#names.length; i++) slots[i] = variables[this.#names[i] as string]
    return slots
  }

  /** @throws Pause */
  #run(frame: Frame): Evaluation {
    frame.restart()
    try {
      const value = this.#step(frame)
      frame.deductWork()
      return { value, cost: frame.cost, exceeded: false }
    } catch (error) {
      if (error instanceof Pause) throw error
      frame.deductWork()
      if (!(error instanceof LimitExceeded)) throw error
      return { value: new ErrorValue(error.message), cost: frame.cost, exceeded: true }
    }
  }
}
