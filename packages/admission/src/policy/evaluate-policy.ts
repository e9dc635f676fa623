import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { trimSpace, utf8Length } from '@krmkit/meta/go-text'
import { cel } from '@krmkit/schema'
import type { PolicyMetrics } from '../metrics.ts'
import type { Activation, Variables } from './activation.ts'
import { BudgetExceededError, type CostBudget, evaluateExpression, type VariableCost } from './evaluate-expression.ts'
import { conditionCostBudget, evaluateConditions, timedConditions } from './match-conditions.ts'
import type { Policy, PolicyPrograms, Validation } from './policy.ts'
import { policyVariables } from './policy-variables.ts'

export interface Denial {
  /** Index of the validation; 0 when the policy as a whole failed. */
  readonly index: number
  readonly message: string
  /** Absent: `Invalid`. */
  readonly reason?: string
  /** Time of the evaluation; 0 when the policy as a whole failed. */
  readonly seconds: number
}

export type Annotation =
  | { readonly key: string; readonly value: string }
  | { readonly key: string; readonly error: string; readonly seconds: number }

/** The decision of a policy about one request, with one parameter object. */
export interface PolicyDecision {
  readonly denials: readonly Denial[]
  /** Failures that the failure policy ignores. */
  readonly ignored: readonly Pick<Denial, 'message' | 'seconds'>[]
  readonly annotations: readonly Annotation[]
}

/** Cost budget of all validations of a policy; its audit annotations have another of the same size. */
const costBudget = 10_000_000
const maxMessage = 5 * 1024

const nothing: PolicyDecision = { denials: [], ignored: [], annotations: [] }

export async function evaluatePolicy(
  policy: Policy,
  activation: Activation,
  params: DeepReadonly<ApiObject> | null,
  metrics?: Pick<PolicyMetrics, 'conditionsEvaluated'>,
): Promise<PolicyDecision> {
  const programs = policy.programs()
  const failed = (message: string): PolicyDecision => {
    const failure = { index: 0, message, seconds: 0 }
    return { ...nothing, ...(policy.failsOpen ? { ignored: [failure] } : { denials: [failure] }) }
  }
  const withAuthorizer = activation.variables(params, { authorizer: true })
  const { work } = activation
  if (programs.conditions.length > 0) {
    const budget = { cost: conditionCostBudget, work }
    const result = await timedConditions(metrics, { name: policy.name, operation: activation.operation }, () =>
      evaluateConditions(programs.conditions, withAuthorizer, budget),
    )
    if (result.outcome === 'error') return failed(result.message)
    if (result.outcome === 'noMatch') return nothing
  }
  const { variables, spending } = policyVariables(programs.variables, withAuthorizer, work)
  const plain = policyVariables(programs.variables, activation.variables(params, { authorizer: false }), work)
  try {
    const decisions = await validate(policy, programs, { variables, spending, plain, budget: { cost: costBudget, work } })
    const annotations = await annotate(policy, programs, { variables, spending, budget: { cost: costBudget, work } })
    return { ...decisions, annotations }
  } catch (error) {
    if (error instanceof BudgetExceededError) return failed(error.message)
    throw error
  }
}

interface EvaluationContext {
  readonly variables: Variables
  readonly spending: VariableCost
  readonly budget: CostBudget
}

interface ValidationContext extends EvaluationContext {
  /** The variables of message expressions, without `authorizer`. */
  readonly plain: Pick<EvaluationContext, 'variables' | 'spending'>
}

async function validate(
  { failsOpen }: Policy,
  { validations }: PolicyPrograms,
  { variables, spending, budget, plain }: ValidationContext,
): Promise<Pick<PolicyDecision, 'denials' | 'ignored'>> {
  const denials: Denial[] = []
  const ignored: Denial[] = []
  const failures = failsOpen ? ignored : denials
  const results = []
  for (const { source } of validations)
    results.push(await timed(() => evaluateExpression(source, variables, { budget, spending })))
  for (const [index, { result, seconds }] of results.entries()) {
    if ('error' in result) {
      failures.push({ index, message: result.error, seconds })
      continue
    }
    if (result.value === true) continue
    const { validation, message } = validations[index] as PolicyPrograms['validations'][number]
    let text = ''
    try {
      const evaluated =
        message === undefined
          ? undefined
          : await evaluateExpression(message, plain.variables, { budget, spending: plain.spending })
      if (evaluated !== undefined && 'value' in evaluated && typeof evaluated.value === 'string')
        text = validMessage(evaluated.value)
    } catch (error) {
      if (!(error instanceof BudgetExceededError)) throw error
      failures.push({ index, message: `failed messageExpression: ${error.message}`, seconds })
      continue
    }
    const { reason } = validation
    denials.push({
      index,
      seconds,
      message: text === '' ? defaultMessage(validation) : text,
      ...(reason === undefined || reason === null || reason === '' ? {} : { reason }),
    })
  }
  return { denials, ignored }
}

async function timed<T>(run: () => Promise<T>): Promise<{ readonly result: T; readonly seconds: number }> {
  const startedAt = performance.now()
  const result = await run()
  return { result, seconds: (performance.now() - startedAt) / 1000 }
}

/** The trimmed message; empty when it is too long or has several lines. */
function validMessage(message: string): string {
  const text = trimSpace(message)
  return utf8Length(text) > maxMessage || text.includes('\n') ? '' : text
}

function defaultMessage({ message = '', expression }: Validation): string {
  return message === '' ? `failed expression: ${trimSpace(expression)}` : trimSpace(message)
}

async function annotate(
  { failsOpen }: Policy,
  { annotations }: PolicyPrograms,
  { variables, spending, budget }: EvaluationContext,
): Promise<readonly Annotation[]> {
  const { engine } = cel()
  const found: Annotation[] = []
  for (const { key, source } of annotations) {
    const { result, seconds } = await timed(() => evaluateExpression(source, variables, { budget, spending }))
    if ('error' in result) {
      if (!failsOpen) found.push({ key, error: result.error, seconds })
    } else if (typeof result.value === 'string') {
      const value = trimSpace(result.value)
      if (value !== '') found.push({ key, value })
    } else if (result.value !== null && !(result.value instanceof engine.ErrorValue)) {
      found.push({
        key,
        seconds,
        error: `valueExpression '${source.text}' resulted in unsupported return type. Return type must be either string or null.`,
      })
    }
  }
  return found
}
