import type { Expr } from './ast.ts'
import { PendingAuthorization } from './libraries/authorization.ts'
import { LimitExceeded, type WorkBudget } from './meter.ts'
import { Patterns } from './patterns.ts'
import { Planner } from './plan.ts'
import { Frame, PlanError, type Step } from './step.ts'
import { ErrorValue, type Value } from './values.ts'

/** Cost limit of one evaluation on the stock server. */
export const perCallLimit = 1_000_000

export interface EvaluationOptions {
  /** Cost limit. Default `perCallLimit`. */
  readonly limit?: number
  /** Work budget shared with other evaluations of the same request. */
  readonly work?: WorkBudget
}

/** Result of an evaluation. */
export interface Evaluation {
  /** The result, or an `ErrorValue`. */
  readonly value: Value
  readonly cost: number
  /** Whether the cost limit was exceeded. */
  readonly exceeded: boolean
}

/**
 * A compiled expression; can be evaluated repeatedly.
 *
 * @example
 * import { compileExpression, dynType, Environment, fromJson } from '@krmkit/schema/cel'
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
  readonly #slots: number
  readonly #patterns = new Patterns()

  private constructor(step: Step, variables: readonly string[], slots: number) {
    this.#step = step
    this.#names = variables
    this.#slots = slots
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
   * Evaluates the expression.
   *
   * @param variables by name; using an absent variable is an evaluation error.
   * @throws PendingAuthorization when an authorizer response is not available yet.
   */
  evaluate(
    variables: Readonly<Record<string, Value | undefined>>,
    { limit = perCallLimit, work }: EvaluationOptions = {},
  ): Evaluation {
    const slots: (Value | undefined)[] = new Array(this.#slots).fill(undefined)
    for (let i = 0; i < this.#names.length; i++) slots[i] = variables[this.#names[i] as string]
    const frame = new Frame(slots, { limit, patterns: this.#patterns, work })
    try {
      const value = this.#step(frame)
      frame.deductWork()
      return { value, cost: frame.cost, exceeded: false }
    } catch (error) {
      frame.deductWork()
      if (!(error instanceof LimitExceeded)) throw error
      return { value: new ErrorValue(error.message), cost: frame.cost, exceeded: true }
    }
  }

  /** As `evaluate`, but waits for authorizers. */
  async evaluateAsync(
    variables: Readonly<Record<string, Value | undefined>>,
    options: EvaluationOptions = {},
  ): Promise<Evaluation> {
    for (;;) {
      try {
        return this.evaluate(variables, options)
      } catch (error) {
        if (!(error instanceof PendingAuthorization)) throw error
        await error.until
      }
    }
  }
}
