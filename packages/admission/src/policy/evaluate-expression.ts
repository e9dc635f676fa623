import { createTurns, Pace } from '@krmkit/base/work'
import type { CompiledExpression, ExpressionProblem, WorkBudget } from '@krmkit/cel'
import type { Value } from '@krmkit/cel/values'
import { cel } from '@krmkit/schema'
import type { Variables } from './activation.ts'

/** Evaluation of expressions that share one cost budget. */

export type Compiled = CompiledExpression | ExpressionProblem

/** An expression with its program or its compile error. */
export interface ExpressionProgram {
  readonly text: string
  readonly compiled: Compiled
}

export type EvaluationResult = { readonly value: Value } | { readonly error: string }

/** The cost budget is exceeded; evaluation stops. */
export class BudgetExceededError extends Error {}

export interface CostBudget {
  /** Remaining cost. */
  cost: number
  readonly work: WorkBudget
}

const budgetExceeded = 'validation failed due to running out of cost budget, no further validation rules will be run'

/** The cost of variables that expressions have evaluated; see `policyVariables`. */
export interface VariableCost {
  /** The cost since the last call. */
  spent(): number
}

/** Of all requests, since each may have many expressions of many policies and webhooks. */
const pace = new Pace(createTurns())

/** @throws BudgetExceededError */
export async function evaluateExpression(
  { text, compiled }: ExpressionProgram,
  variables: Variables,
  { budget, spending }: { readonly budget: CostBudget; readonly spending?: VariableCost | undefined },
): Promise<EvaluationResult> {
  if ('problem' in compiled) return { error: `compilation error: ${compiled.problem}` }
  const { value, cost } = await compiled.program.evaluateAsync(variables, pace, { work: budget.work })
  charge(budget, spending?.spent() ?? 0)
  charge(budget, cost)
  const { engine } = cel()
  return value instanceof engine.ErrorValue ? { error: `expression '${text}' resulted in error: ${value.message}` } : { value }
}

function charge(budget: CostBudget, cost: number): void {
  if (cost > budget.cost) throw new BudgetExceededError(budgetExceeded)
  budget.cost -= cost
}
