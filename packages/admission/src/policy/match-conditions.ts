import type { Authorizer } from '@krmkit/authorization'
import { aggregateMessages, trimSpace } from '@krmkit/meta/go-text'
import { cel, loadCel } from '@krmkit/schema'
import type { PolicyConditionLabels, PolicyMetrics } from '../metrics.ts'
import type { MatchCondition, MatchConditionResult, MatchConditions } from '../webhook/interfaces.ts'
import { Activation, type Variables } from './activation.ts'
import { BudgetExceededError, type CostBudget, type ExpressionProgram, evaluateExpression } from './evaluate-expression.ts'

/** Match conditions of webhooks and policies. */

/** Cost budget of all match conditions of one webhook or policy. */
export const conditionCostBudget = 2_500_000

/**
 * Evaluates match conditions of webhooks as CEL. Conditions are compiled on first use.
 *
 * @param authorizer backs the `authorizer` variable.
 * @example
 * ```ts
 * import { celMatchConditions } from '@krmkit/admission/policies'
 * import { alwaysDenyAuthorizer } from '@krmkit/authorization'
 *
 * const conditions = celMatchConditions({ authorizer: alwaysDenyAuthorizer })
 * const evaluate = conditions.compile([{ name: 'scaled', expression: 'object.spec.replicas > 3' }])
 * const kind = { group: 'apps', version: 'v1', kind: 'Deployment' }
 * const resource = { group: 'apps', version: 'v1', resource: 'deployments' }
 * const user = { username: 'jane', groups: [] }
 * const names = { kind, resource, subresource: '', name: 'web', namespace: 'shop' }
 * const attributes = { ...names, operation: 'CREATE', user, dryRun: false } as const
 * const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas: 2 } }
 * await evaluate({ attributes, object, oldObject: null, request: {} }) // { outcome: 'noMatch' }
 * ```
 */
export function celMatchConditions({ authorizer }: { readonly authorizer: Authorizer }): MatchConditions {
  return {
    compile(conditions) {
      let compiled: readonly ExpressionProgram[] | undefined
      return async (input) => {
        await loadCel()
        compiled ??= compileConditions(conditions, { params: false })
        const activation = new Activation(input, authorizer)
        const budget = { cost: conditionCostBudget, work: activation.work }
        return evaluateConditions(compiled, activation.variables(null, { authorizer: true }), budget)
      }
    },
  }
}

/** Compiles conditions; the expression engine must be loaded. */
export function compileConditions(
  conditions: readonly MatchCondition[],
  { params }: { readonly params: boolean },
): readonly ExpressionProgram[] {
  const { engine, storedExpressions: stored } = cel()
  const scope = engine.admissionEnvironment(stored, { params, authorizer: true })
  return conditions.map(({ expression }) => {
    const text = trimSpace(expression)
    return { text, compiled: engine.compileExpression(scope, text, { kinds: ['bool'] }) }
  })
}

/** Evaluates conditions: one false condition decides, even when others fail. */
export async function evaluateConditions(
  conditions: readonly ExpressionProgram[],
  variables: Variables,
  budget: CostBudget,
): Promise<MatchConditionResult> {
  const errors: string[] = []
  try {
    for (const condition of conditions) {
      const result = await evaluateExpression(condition, variables, { budget })
      if ('error' in result) errors.push(result.error)
      else if (result.value === false) return { outcome: 'noMatch' }
    }
  } catch (error) {
    if (error instanceof BudgetExceededError) return { outcome: 'error', message: error.message }
    throw error
  }
  if (errors.length === 0) return { outcome: 'match' }
  return { outcome: 'error', message: aggregateMessages(errors) }
}

/** Evaluates the match conditions of a policy and records the outcome. */
export async function timedConditions(
  metrics: Pick<PolicyMetrics, 'conditionsEvaluated'> | undefined,
  labels: PolicyConditionLabels,
  evaluate: () => Promise<MatchConditionResult>,
): Promise<MatchConditionResult> {
  if (metrics === undefined) return evaluate()
  const startedAt = performance.now()
  const result = await evaluate()
  metrics.conditionsEvaluated(labels, { seconds: (performance.now() - startedAt) / 1000, outcome: result.outcome })
  return result
}
