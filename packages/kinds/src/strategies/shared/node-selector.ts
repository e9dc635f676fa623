/** Node selectors, taints and tolerations. */

import type { Work } from '@krmkit/base/work'
import { nameRules } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { type GoText, goQuote, goText } from '@krmkit/meta/go-text'
import { validateLabelValue } from '@krmkit/meta/names'
import type {
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PreferredSchedulingTerm,
  Taint,
  Toleration,
  TopologySelectorTerm,
} from '../../types/core-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { forEachItem } from './for-each.ts'
import { goPointer, goStruct } from './go-form.ts'
import { validateQualifiedName } from './names.ts'
import { isEmpty, isSet, type R } from './values.ts'

/** Terms of which at least one must match. */
export function* validateNodeSelector(selector: R<NodeSelector>, at: FieldPath): Work {
  const terms = at.child('nodeSelectorTerms')
  if (isEmpty(selector.nodeSelectorTerms)) {
    terms.required('must have at least one node selector term')
    return
  }
  for (const [i, term] of selector.nodeSelectorTerms.entries()) {
    yield* validateNodeSelectorTerm(term, terms.index(i))
    yield
  }
}

/** @param anyValue values need not be valid as labels. */
function* validateNodeSelectorTerm(term: R<NodeSelectorTerm>, at: FieldPath, anyValue = false): Work {
  yield* forEachItem(term.matchExpressions, (requirement, i) =>
    validateExpression(requirement, at.child('matchExpressions').index(i), anyValue),
  )
  yield* forEachItem(term.matchFields, (requirement, i) => validateFieldExpression(requirement, at.child('matchFields').index(i)))
}

function validateExpression(requirement: R<NodeSelectorRequirement>, at: FieldPath, anyValue: boolean): void {
  const { operator } = requirement
  const values = requirement.values ?? []
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) at.child('values').required("must be specified when `operator` is 'In' or 'NotIn'")
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) at.child('values').forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (values.length !== 1) at.child('values').required("must be specified single value when `operator` is 'Lt' or 'Gt'")
  } else at.child('operator').invalid(operator ?? '', 'not a valid selector operator')
  validateQualifiedName(requirement.key, at.child('key'))
  if (anyValue) return
  for (const [i, value] of values.entries()) at.child('values').index(i).invalidAll(value, validateLabelValue(value))
}

/** `metadata.name` is the only field of nodes that can be selected. */
function validateFieldExpression(requirement: R<NodeSelectorRequirement>, at: FieldPath): void {
  const { operator } = requirement
  const values = requirement.values ?? []
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length !== 1) {
      at.child('values').required("must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
    }
  } else at.child('operator').invalid(operator ?? '', 'not a valid selector operator')
  if (requirement.key !== 'metadata.name') {
    at.child('key').invalid(requirement.key, 'not a valid field selector key')
    return
  }
  for (const [i, value] of values.entries())
    at.child('values').index(i).invalidAll(value, nameRules.dns1123Subdomain(value, false))
}

/** Weight of a preference: 1 to 100. */
export function validateWeight(weight: number | undefined, at: FieldPath): void {
  const value = weight ?? 0
  if (value <= 0 || value > 100) at.invalid(value, 'must be in the range 1-100')
}

export function* validatePreferredTerms(terms: readonly R<PreferredSchedulingTerm>[] | null | undefined, at: FieldPath): Work {
  for (const [i, term] of (terms ?? []).entries()) {
    validateWeight(term.weight, at.index(i).child('weight'))
    // Terms that match no node do no harm.
    yield* validateNodeSelectorTerm(term.preference, at.index(i).child('preference'), true)
  }
}

/** `allowedTopologies` of a storage class. */
export function validateTopologyTerms(terms: readonly R<TopologySelectorTerm>[] | null | undefined, at: FieldPath): void {
  const seen = new Map<string, number>()
  for (const [i, term] of (terms ?? []).entries()) {
    const here = at.index(i)
    const keys = new Set<string>()
    for (const [j, expression] of (term.matchLabelExpressions ?? []).entries()) {
      const place = here.child('matchLabelExpressions').index(j)
      const values = new Set<string>()
      if (isEmpty(expression.values)) place.child('values').required()
      for (const [k, value] of (expression.values ?? []).entries()) {
        if (values.has(value)) place.child('values').index(k).duplicate(value)
        values.add(value)
      }
      validateQualifiedName(expression.key, place.child('key'))
      if (keys.has(expression.key)) place.child('key').duplicate(expression.key)
      keys.add(expression.key)
    }
    const text = topologyText(term)
    const before = seen.get(text) ?? 0
    // kube-apiserver compares a term without expressions with as many empty ones as there are terms.
    const empties = isEmpty(term.matchLabelExpressions) ? (terms ?? []).length : 0
    for (let copies = before + empties; copies > 0; copies--) here.child('matchLabelExpressions').duplicate('')
    seen.set(text, before + 1)
  }
}

/** A text that terms with the same values for each key share. The last expression of a key counts. */
function topologyText(term: R<TopologySelectorTerm>): string {
  const values = new Map((term.matchLabelExpressions ?? []).map(({ key, values }) => [key, [...new Set(values)].sort()] as const))
  return JSON.stringify([...values].sort(([a], [b]) => (a < b ? -1 : 1)))
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** Effect of a taint. */
function validateTaintEffect(effect: string | undefined, at: FieldPath, options: { readonly mayBeEmpty: boolean }): void {
  if (isEmpty(effect)) {
    if (!options.mayBeEmpty) at.required()
  } else if (!effects.includes(effect)) at.notSupported(effect, effects)
}

/** `tolerations` of a pod. */
export function* validateTolerations(tolerations: readonly R<Toleration>[] | null | undefined, at: FieldPath): Work {
  yield* forEachItem(tolerations, (toleration, i) => {
    const here = at.index(i)
    const operator = toleration.operator ?? ''
    const value = toleration.value ?? ''
    if (!isEmpty(toleration.key)) validateQualifiedName(toleration.key, here.child('key'))
    else if (operator !== 'Exists') {
      const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
      here.child('operator').invalid(operator, detail)
    }
    if (isSet(toleration.tolerationSeconds) && toleration.effect !== 'NoExecute') {
      here.child('effect').invalid(toleration.effect ?? '', "effect must be 'NoExecute' when `tolerationSeconds` is set")
    }
    if (operator === 'Equal' || operator === '') {
      const messages = validateLabelValue(value)
      if (messages.length > 0) here.child('operator').invalid(value, messages.join(';'))
    } else if (operator === 'Exists') {
      if (value !== '') here.child('operator').invalid(value, "value must be empty when `operator` is 'Exists'")
    } else if (isComparison(operator, at)) validateComparison(toleration, here)
    else here.child('operator').notSupported(operator, ['Equal', 'Exists'])
    validateTaintEffect(toleration.effect, here.child('effect'), { mayBeEmpty: true })
  })
}

/** Tolerations of 1.35 compare the values of taints as numbers. */
function isComparison(operator: string, { errors }: FieldPath): boolean {
  return (operator === 'Lt' || operator === 'Gt') && errors.context.features.release.atLeast('1.35')
}

const largestInt64 = 2n ** 63n - 1n

function validateComparison({ operator, value = '' }: R<Toleration>, at: FieldPath): void {
  if (!gateEnabled('TaintTolerationComparisonOperators', at.errors.context.features)) {
    at.child('operator').notSupported(operator, ['Equal', 'Exists', 'Lt', 'Gt'])
    return
  }
  const here = at.child('value')
  const refuse = (why: string): void => here.invalid(value, `strconv.ParseInt: parsing ${goQuote(value)}: ${why}`)
  const canonical = /^(?:0|-?[1-9]\d*)$/.test(value)
  if (value === '') here.invalid(value, 'must be non-empty')
  else if (!canonical) here.invalid(value, 'must be a valid decimal integer in canonical form')
  if (!/^[+-]?\d+$/.test(value)) refuse('invalid syntax')
  else if (value.length > 20 || !isInt64(BigInt(value.replace('+', '')))) refuse('value out of range')
}

function isInt64(value: bigint): boolean {
  return value <= largestInt64 && value >= -largestInt64 - 1n
}

/** A text equal for equal tolerations; without `seconds`, for tolerations that differ in seconds only. */
export function tolerationText(toleration: R<Toleration>, { seconds = true }: { readonly seconds?: boolean } = {}): string {
  const { key, operator, value, effect, tolerationSeconds } = toleration
  const members = [key, operator, value, effect, seconds ? tolerationSeconds : undefined]
  return JSON.stringify(members.map((member) => (isSet(member) ? String(member) : null)))
}

/** A toleration as Go prints it. */
export function printToleration({ key, operator, value, effect, tolerationSeconds }: R<Toleration>): GoText {
  const members = {
    Key: goQuote(key ?? ''),
    Operator: goQuote(operator ?? ''),
    Value: goQuote(value ?? ''),
    Effect: goQuote(effect ?? ''),
    TolerationSeconds: goPointer(tolerationSeconds, 'int64'),
  }
  return goText(goStruct('core.Toleration', members))
}

/** `spec.taints` of a node. */
export function validateTaints(taints: readonly R<Taint>[] | null | undefined, at: FieldPath): void {
  const seen = new Map<string, Set<string>>()
  for (const [i, taint] of (taints ?? []).entries()) {
    const here = at.index(i)
    validateQualifiedName(taint.key, here.child('key'))
    const messages = validateLabelValue(taint.value ?? '')
    if (messages.length > 0) here.child('value').invalid(taint.value ?? '', messages.join(';'))
    validateTaintEffect(taint.effect, here.child('effect'), { mayBeEmpty: false })
    const keys = seen.get(taint.effect) ?? new Set()
    if (keys.has(taint.key)) here.duplicate(printTaint(taint), 'taints must be unique by key and effect pair')
    seen.set(taint.effect, keys.add(taint.key))
  }
}

function printTaint(taint: R<Taint>): GoText {
  const text = `Key:${goQuote(taint.key)}, Value:${goQuote(taint.value ?? '')}, Effect:${goQuote(taint.effect)}`
  return goText(`core.Taint{${text}, TimeAdded:<nil>}`)
}
