import { type ApiObject, type DeepReadonly, utf8Length } from '@krmkit/meta'
import { cel } from '@krmkit/schema'
import type { Activation, Variables } from './activation.ts'
import { type Budget, evaluate, OutOfBudget, type Spending } from './evaluate.ts'
import { conditionCostBudget, judge } from './match-conditions.ts'
import type { Policy, PolicyPrograms, Validation } from './policy.ts'
import { policyVariables } from './policy-variables.ts'

/** What a policy says of one request, with one set of parameters. */

export interface Denial {
  /** Which of the validations; 0 when it is about the policy as a whole. */
  readonly index: number
  readonly message: string
  /** Absent: `Invalid`. */
  readonly reason?: string
}

export type Annotation = { readonly key: string; readonly value: string } | { readonly key: string; readonly error: string }

export interface PolicyDecision {
  readonly denials: readonly Denial[]
  readonly annotations: readonly Annotation[]
}

/** Cost that the validations of one policy may have together; its annotations may have as much again. */
const costBudget = 10_000_000
const maxMessage = 5 * 1024

const nothing: PolicyDecision = { denials: [], annotations: [] }

export async function decide(
  policy: Policy,
  subject: Activation,
  params: DeepReadonly<ApiObject> | null,
): Promise<PolicyDecision> {
  const programs = policy.programs()
  const failed = (message: string): PolicyDecision =>
    policy.failsOpen ? nothing : { ...nothing, denials: [{ index: 0, message }] }
  const withRights = subject.variables(params, { authorizer: true })
  const { work } = subject
  if (programs.conditions.length > 0) {
    const verdict = await judge(programs.conditions, withRights, { cost: conditionCostBudget, work })
    if (verdict.outcome === 'error') return failed(verdict.message)
    if (verdict.outcome === 'noMatch') return nothing
  }
  const { variables, spending } = policyVariables(programs.variables, withRights, work)
  const plain = policyVariables(programs.variables, subject.variables(params, { authorizer: false }), work)
  try {
    const denials = await validate(policy, programs, { variables, spending, plain, budget: { cost: costBudget, work } })
    const annotations = await annotate(policy, programs, { variables, spending, budget: { cost: costBudget, work } })
    return { denials, annotations }
  } catch (error) {
    if (error instanceof OutOfBudget) return failed(error.message)
    throw error
  }
}

interface Evaluating {
  readonly variables: Variables
  readonly spending: Spending
  readonly budget: Budget
}

/** Messages cannot ask about rights. */
interface EvaluatingValidations extends Evaluating {
  readonly plain: Pick<Evaluating, 'variables' | 'spending'>
}

async function validate(
  { failsOpen }: Policy,
  { validations }: PolicyPrograms,
  { variables, spending, budget, plain }: EvaluatingValidations,
): Promise<readonly Denial[]> {
  const denials: Denial[] = []
  const results = []
  for (const { source } of validations) results.push(await evaluate(source, variables, { budget, spending }))
  for (const [index, result] of results.entries()) {
    if ('error' in result) {
      if (!failsOpen) denials.push({ index, message: result.error })
      continue
    }
    if (result.value === true) continue
    const { validation, message } = validations[index] as PolicyPrograms['validations'][number]
    let text = ''
    try {
      const evaluated =
        message === undefined ? undefined : await evaluate(message, plain.variables, { budget, spending: plain.spending })
      if (evaluated !== undefined && 'value' in evaluated && typeof evaluated.value === 'string') text = usable(evaluated.value)
    } catch (error) {
      if (!(error instanceof OutOfBudget)) throw error
      if (!failsOpen) denials.push({ index, message: `failed messageExpression: ${error.message}` })
      continue
    }
    const { reason } = validation
    denials.push({
      index,
      message: text === '' ? plainMessage(validation) : text,
      ...(reason === undefined || reason === null || reason === '' ? {} : { reason }),
    })
  }
  return denials
}

/** Empty for texts that are too long, or longer than a line. */
function usable(message: string): string {
  const text = message.trim()
  return utf8Length(text) > maxMessage || text.includes('\n') ? '' : text
}

function plainMessage({ message = '', expression }: Validation): string {
  return message === '' ? `failed expression: ${expression.trim()}` : message.trim()
}

async function annotate(
  { failsOpen }: Policy,
  { annotations }: PolicyPrograms,
  { variables, spending, budget }: Evaluating,
): Promise<readonly Annotation[]> {
  const { engine } = cel()
  const found: Annotation[] = []
  for (const { key, source } of annotations) {
    const result = await evaluate(source, variables, { budget, spending })
    if ('error' in result) {
      if (!failsOpen) found.push({ key, error: result.error })
    } else if (typeof result.value === 'string') {
      const value = result.value.trim()
      if (value !== '') found.push({ key, value })
    } else if (result.value !== null && !(result.value instanceof engine.ErrorValue)) {
      found.push({
        key,
        error: `valueExpression '${source.text}' resulted in unsupported return type. Return type must be either string or null.`,
      })
    }
  }
  return found
}
