import type { Authorizer } from '@krmkit/authorization'
import { cel, loadCel } from '@krmkit/schema'
import type { ConditionVerdict, MatchCondition, MatchConditions } from '../webhook/interfaces.ts'
import { Activation, type Variables } from './activation.ts'
import { type Budget, evaluate, OutOfBudget, type Source } from './evaluate.ts'

/** Conditions of webhooks and policies. */

/** Cost that the conditions of one webhook or policy may have together. */
export const conditionCostBudget = 2_500_000

/**
 * An evaluator of the conditions of webhooks. Expressions are compiled when the first request comes.
 *
 * @param authorizer answers what expressions ask about rights.
 */
export function matchConditions({ authorizer }: { readonly authorizer: Authorizer }): MatchConditions {
  return {
    compile(conditions) {
      let compiled: readonly Source[] | undefined
      return async (input) => {
        await loadCel()
        compiled ??= compileConditions(conditions, { params: false })
        const subject = new Activation(input, authorizer)
        const budget = { cost: conditionCostBudget, work: subject.work }
        return judge(compiled, subject.variables(null, { authorizer: true }), budget)
      }
    },
  }
}

/** The engine must be loaded. */
export function compileConditions(
  conditions: readonly MatchCondition[],
  { params }: { readonly params: boolean },
): readonly Source[] {
  const { engine, storedExpressions: stored } = cel()
  const scope = engine.admissionEnvironment(stored, { params, authorizer: true })
  return conditions.map(({ expression }) => {
    const text = expression.trim()
    return { text, compiled: engine.compileExpression(scope, text, { kinds: ['bool'] }) }
  })
}

/** One false condition is enough, whatever happens to the others. */
export async function judge(conditions: readonly Source[], variables: Variables, budget: Budget): Promise<ConditionVerdict> {
  const errors: string[] = []
  try {
    for (const condition of conditions) {
      const result = await evaluate(condition, variables, { budget })
      if ('error' in result) errors.push(result.error)
      else if (result.value === false) return { outcome: 'noMatch' }
    }
  } catch (error) {
    if (error instanceof OutOfBudget) return { outcome: 'error', message: error.message }
    throw error
  }
  if (errors.length === 0) return { outcome: 'match' }
  const unique = [...new Set(errors)]
  return { outcome: 'error', message: unique.length === 1 ? (unique[0] as string) : `[${unique.join(', ')}]` }
}
