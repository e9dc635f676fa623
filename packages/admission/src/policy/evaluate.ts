import { cel } from '@krmkit/schema'
import type { CompiledExpression, ExpressionProblem, Value, WorkBudget } from '@krmkit/schema/cel'
import type { Variables } from './activation.ts'

/** Several expressions that share one budget. */

export type Compiled = CompiledExpression | ExpressionProblem

/** An expression, compiled or not. */
export interface Source {
  readonly text: string
  readonly compiled: Compiled
}

export type Result = { readonly value: Value } | { readonly error: string }

/** The budget is spent: nothing more is evaluated. */
export class OutOfBudget extends Error {}

export interface Budget {
  /** Cost that is left. */
  cost: number
  readonly work: WorkBudget
}

const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run'

/** What evaluating variables has cost; see `PolicyVariables`. */
export interface Spending {
  spent(): number
}

/** @throws OutOfBudget */
export async function evaluate(
  { text, compiled }: Source,
  variables: Variables,
  { budget, spending }: { readonly budget: Budget; readonly spending?: Spending | undefined },
): Promise<Result> {
  if ('problem' in compiled) return { error: `compilation error: ${compiled.problem}` }
  const { value, cost } = await compiled.program.evaluateAsync(variables, { work: budget.work })
  pay(budget, spending?.spent() ?? 0)
  pay(budget, cost)
  const { engine } = cel()
  return value instanceof engine.ErrorValue ? { error: `expression '${text}' resulted in error: ${value.message}` } : { value }
}

function pay(budget: Budget, cost: number): void {
  if (cost > budget.cost) throw new OutOfBudget(outOfBudget)
  budget.cost -= cost
}
