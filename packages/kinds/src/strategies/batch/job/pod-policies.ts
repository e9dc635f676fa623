/** `podFailurePolicy` and `successPolicy`. */
import { goQuote, goText, utf8Length } from '@krmkit/meta/go-text'
import type {
  JobSpec,
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyRule,
  SuccessPolicy,
  SuccessPolicyRule,
} from '../../../types/batch-v1.generated.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { goNumbers, goPointer, goStruct, goStructs } from '../../shared/go-form.ts'
import { validateQualifiedName } from '../../shared/names.ts'
import { validateNotNegative } from '../../shared/numbers.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { readIndexes } from './indexes.ts'

const maxRules = 20
const maxExitCodes = 255
const maxPatterns = 20
const maxIndexesBytes = 64 * 1024

const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore']
const operators = ['In', 'NotIn']
const statuses = ['False', 'True', 'Unknown']

/** Text of kube-apiserver for a required choice. */
function validValuesText(values: readonly string[]): string {
  return `valid values: [${values.map(goQuote).join(' ')}]`
}

/** Rules of `podFailurePolicy`. */
export function validateFailurePolicy(spec: R<JobSpec>, at: FieldPath): void {
  const rules = spec.podFailurePolicy?.rules ?? []
  if (rules.length > maxRules) at.child('rules').tooMany(rules.length, maxRules)
  const pod = spec.template?.spec
  const names = new Set([...(pod?.containers ?? []), ...(pod?.initContainers ?? [])].map((container) => container.name))
  for (const [i, rule] of rules.entries()) {
    const here = at.child('rules').index(i)
    validateAction(rule, here.child('action'), isSet(spec.backoffLimitPerIndex))
    if (isSet(rule.onExitCodes)) validateExitCodes(rule.onExitCodes, here.child('onExitCodes'), names)
    if (!isEmpty(rule.onPodConditions)) validatePatterns(rule, here.child('onPodConditions'))
    const both = isSet(rule.onExitCodes) && !isEmpty(rule.onPodConditions)
    if (both) invalidUnprinted(here, 'specifying both OnExitCodes and OnPodConditions is not supported')
    const none = !isSet(rule.onExitCodes) && isEmpty(rule.onPodConditions)
    if (none) invalidUnprinted(here, 'specifying one of OnExitCodes and OnPodConditions is required')
  }
}

/** An invalid value whose message omits the value. */
export function invalidUnprinted(at: FieldPath, detail: string): void {
  at.add([{ field: String(at.path()), reason: 'FieldValueInvalid', message: `Invalid value: ${detail}` }])
}

function validateAction(rule: R<PodFailurePolicyRule>, at: FieldPath, perIndex: boolean): void {
  const action = rule.action ?? ''
  if (action === '') at.required(validValuesText(actions))
  else if (!actions.includes(action)) at.notSupported(action, actions)
  else if (action === 'FailIndex' && !perIndex) at.invalid(action, 'requires the backoffLimitPerIndex to be set')
}

function validatePatterns(rule: R<PodFailurePolicyRule>, at: FieldPath): void {
  const patterns = rule.onPodConditions ?? []
  if (patterns.length > maxPatterns) at.tooMany(patterns.length, maxPatterns)
  for (const [i, pattern] of patterns.entries()) {
    validateQualifiedName(pattern.type ?? '', at.index(i).child('type'))
    const status = pattern.status ?? ''
    if (status === '') at.index(i).child('status').required(validValuesText(statuses))
    else if (!statuses.includes(status)) at.index(i).child('status').notSupported(status, statuses)
  }
}

function validateExitCodes(rule: R<PodFailurePolicyOnExitCodesRequirement>, at: FieldPath, names: ReadonlySet<string>): void {
  const operator = rule.operator ?? ''
  if (operator === '') at.child('operator').required(validValuesText(operators))
  else if (!operators.includes(operator)) at.child('operator').notSupported(operator, operators)
  const name = rule.containerName
  if (isSet(name) && !names.has(name)) {
    at.child('containerName').invalid(name, 'must be one of the container or initContainer names in the pod template')
  }
  const values = rule.values ?? []
  const here = at.child('values')
  if (values.length === 0) here.invalid(goNumbers('int32', rule.values), 'at least one value is required')
  else if (values.length > maxExitCodes) here.tooMany(values.length, maxExitCodes)
  const seen = new Set<number>()
  for (const [i, value] of values.entries()) {
    if (operator === 'In' && value === 0) here.index(i).invalid(value, 'must not be 0 for the In operator')
    if (seen.has(value)) here.index(i).duplicate(value)
    seen.add(value)
  }
  const ordered = values.every((value, i) => i === 0 || values[i - 1]! <= value)
  if (!ordered) here.invalid(goNumbers('int32', values), 'must be ordered')
}

/** The failure policy as Go prints it. */
export function printFailurePolicy({ rules }: R<PodFailurePolicy>): string {
  const printed = goStructs('batch.PodFailurePolicyRule', rules, ({ action, onExitCodes, onPodConditions }) => ({
    Action: goQuote(action ?? ''),
    OnExitCodes: goPointer(onExitCodes, 'batch.PodFailurePolicyOnExitCodesRequirement'),
    OnPodConditions: goStructs('batch.PodFailurePolicyOnPodConditionsPattern', onPodConditions, ({ type, status }) => ({
      Type: goQuote(type ?? ''),
      Status: goQuote(status ?? ''),
    })),
  }))
  return goStruct('batch.PodFailurePolicy', { Rules: printed })
}

/** The success policy as Go prints it. */
export function printSuccessPolicy({ rules }: R<SuccessPolicy>): string {
  const printed = goStructs('batch.SuccessPolicyRule', rules, ({ succeededIndexes, succeededCount }) => ({
    SucceededIndexes: goPointer(succeededIndexes, 'string'),
    SucceededCount: goPointer(succeededCount, 'int32'),
  }))
  return goStruct('batch.SuccessPolicy', { Rules: printed })
}

/** Rules of `successPolicy`. */
export function validateSuccessPolicy(spec: R<JobSpec>, at: FieldPath): void {
  const rules = spec.successPolicy?.rules ?? []
  const here = at.child('rules')
  if (rules.length === 0) here.required('at least one rules must be specified when the successPolicy is specified')
  if (rules.length > maxRules) here.tooMany(rules.length, maxRules)
  for (const [i, rule] of rules.entries()) validateSuccessRule(rule, here.index(i), spec.completions ?? 0)
}

function validateSuccessRule(rule: R<SuccessPolicyRule>, at: FieldPath, completions: number): void {
  const { succeededCount: count, succeededIndexes: text } = rule
  if (!isSet(count) && !isSet(text)) at.required('at least one of succeededCount or succeededIndexes must be specified')
  let total = 0
  if (isSet(text)) {
    const here = at.child('succeededIndexes')
    if (utf8Length(text) > maxIndexesBytes) here.tooLong(text, maxIndexesBytes)
    const indexes = readIndexes(text, completions)
    if ('error' in indexes) here.invalid(text, `error parsing succeededIndexes: ${indexes.error}`)
    else total = indexes.total
  }
  if (!isSet(count)) return
  const here = at.child('succeededCount')
  validateNotNegative(count, here)
  if (count > completions)
    here.invalid(count, `must be less than or equal to ${completions} (the number of specified completions)`)
  if (isSet(text) && count > total) {
    here.invalid(
      goText(String(count)),
      `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`,
    )
  }
}
