import type { Expr } from '../syntax/ast.ts'
import { Meter, type MeterOptions } from '../values/meter.ts'
import type { Entry } from '../values/pauses.ts'
import type { Value } from '../values/values.ts'

/** Compiled parts of an expression, and the frame they run in. */

/** Variables and cost of one evaluation. */
export class Frame extends Meter {
  readonly slots: (Value | undefined)[]

  constructor(slots: (Value | undefined)[], options: MeterOptions) {
    super(options)
    this.slots = slots
  }
}

export type Step = (frame: Frame) => Value

/**
 * A step with an entry in evaluations that may pause.
 *
 * @param step receives the entry; `undefined` when the evaluation cannot pause.
 */
export function pausable(step: (frame: Frame, entry: Entry | undefined) => Value): Step {
  return (frame) => (frame.progress === undefined ? step(frame, undefined) : frame.progress.once(frame, step))
}

/** A step whose value is known during planning. */
export interface Constant extends Step {
  readonly constant?: Value
}

export function constantStep(value: Value): Constant {
  return Object.assign(() => value, { constant: value })
}

/** `undefined` for steps that are not constant. */
export function constantOf(step: Constant): Value | undefined {
  return step.constant
}

/** A planning error of an expression that passes type checking, such as `int('x')`. */
export class PlanError extends Error {}

export type Run = (frame: Frame, ...args: readonly Value[]) => Value

/** Services of the planner for expressions that contain others. */
export interface PlanContext {
  plan(expr: Expr): Constant
  /** Slot of a variable. */
  slotOf(name: string): number
  /** Runs `inside` with a new local variable, which `init` computes on first use. */
  local<T>(name: string, inside: (slot: number) => T, init?: Step): T
}
