/** Affinity and topology spread of pods. */

import type { Work } from '@krmkit/base/work'
import type { Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { validateDns1123Label } from '@krmkit/meta/names'
import type { Affinity, PodAffinity, PodAffinityTerm, TopologySpreadConstraint } from '../../types/core-v1.generated.ts'
import type { LabelSelector } from '../../types/meta-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { forEachItem } from './for-each.ts'
import { validateSelector as validateSelectorAtOnce } from './labels.direct.ts'
import { validateSelector } from './labels.ts'
import { validateQualifiedName } from './names.ts'
import { validateNodeSelector, validatePreferredTerms, validateWeight } from './node-selector.ts'
import { isEmpty, isSet, own, type R } from './values.ts'

const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'

/** `affinity` of a pod. */
export function* validateAffinity(affinity: R<Affinity> | null | undefined, at: FieldPath): Work {
  if (!isSet(affinity)) return
  const { nodeAffinity } = affinity
  if (isSet(nodeAffinity)) {
    const here = at.child('nodeAffinity')
    if (isSet(nodeAffinity[required])) yield* validateNodeSelector(nodeAffinity[required], here.child(required))
    yield* validatePreferredTerms(nodeAffinity[preferred], here.child(preferred))
  }
  if (isSet(affinity.podAffinity)) yield* validatePodAffinity(affinity.podAffinity, at.child('podAffinity'))
  if (isSet(affinity.podAntiAffinity)) yield* validatePodAffinity(affinity.podAntiAffinity, at.child('podAntiAffinity'))
}

function* validatePodAffinity(affinity: R<PodAffinity>, at: FieldPath): Work {
  for (const [i, term] of (affinity[required] ?? []).entries()) yield* validateTerm(term, at.child(required).index(i))
  for (const [i, weighted] of (affinity[preferred] ?? []).entries()) {
    const here = at.child(preferred).index(i)
    validateWeight(weighted.weight, here.child('weight'))
    yield* validateTerm(weighted.podAffinityTerm, here.child('podAffinityTerm'))
  }
}

function* validateTerm(term: R<PodAffinityTerm>, at: FieldPath): Work {
  yield* validateSelector(term.labelSelector, at.child('labelSelector'))
  yield* validateSelector(term.namespaceSelector, at.child('namespaceSelector'))
  yield
  for (const name of term.namespaces ?? []) at.child('namespace').invalidAll(name, validateDns1123Label(name))
  validateTermKeys(term, at)
  if (isEmpty(term.topologyKey)) at.child('topologyKey').required('can not be empty')
  validateQualifiedName(term.topologyKey ?? '', at.child('topologyKey'))
}

type KeyedTerm = R<Pick<PodAffinityTerm, 'matchLabelKeys' | 'mismatchLabelKeys' | 'labelSelector'>>

function validateTermKeys(term: KeyedTerm, at: FieldPath): void {
  const match = term.matchLabelKeys ?? []
  const mismatch = term.mismatchLabelKeys ?? []
  for (const [name, keys] of [['matchLabelKeys', match] as const, ['mismatchLabelKeys', mismatch] as const]) {
    if (keys.length === 0) continue
    if (!isSet(term.labelSelector)) at.child(name).forbidden('must not be specified when labelSelector is not set')
    else for (const [i, key] of keys.entries()) validateQualifiedName(key, at.child(name).index(i))
  }
  validateSelectedKeys(match, term.labelSelector, at)
  const mismatched = new Set(mismatch)
  for (const [i, key] of match.entries()) {
    if (mismatched.has(key))
      at.child('matchLabelKeys').index(i).invalid(key, 'exists in both matchLabelKeys and mismatchLabelKeys')
  }
}

/** Reports keys that the selector has besides the expressions that were made of them. */
function validateSelectedKeys(match: readonly string[], selector: R<LabelSelector> | undefined, at: FieldPath): void {
  const places = new Map(match.map((key, i) => [key, i]))
  const seen = new Set(Object.keys(selector?.matchLabels ?? {}))
  for (const { key } of selector?.matchExpressions ?? []) {
    const place = places.get(key)
    // kube-apiserver leaves the name of the member out of the path.
    if (place !== undefined && seen.has(key)) at.index(place).invalid(key, 'exists in both matchLabelKeys and labelSelector')
    seen.add(key)
  }
}

const unsatisfiable = ['DoNotSchedule', 'ScheduleAnyway']
const inclusion = ['Honor', 'Ignore']

/** `topologySpreadConstraints` of a pod. */
export function* validateTopologySpread(
  constraints: readonly R<TopologySpreadConstraint>[] | null | undefined,
  at: FieldPath,
): Work {
  const lasts = new Map((constraints ?? []).map((constraint, i) => [spreadKey(constraint), i]))
  yield* forEachItem(constraints, (constraint, i) => {
    const here = at.index(i)
    const action = constraint.whenUnsatisfiable ?? ''
    if (constraint.maxSkew <= 0) here.child('maxSkew').invalid(constraint.maxSkew, 'must be greater than zero')
    if (isEmpty(constraint.topologyKey)) here.child('topologyKey').required('can not be empty')
    if (!unsatisfiable.includes(action)) here.child('whenUnsatisfiable').notSupported(action, unsatisfiable)
    if (lasts.get(spreadKey(constraint)) !== i)
      here.child('{topologyKey, whenUnsatisfiable}').duplicate(`{${constraint.topologyKey}, ${action}}`)
    validateMinDomains(constraint, here.child('minDomains'))
    for (const name of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
      const policy = constraint[name]
      if (isSet(policy) && !inclusion.includes(policy)) here.child(name).notSupported(policy, inclusion)
    }
    // Since 1.34 new pods have the keys in their selectors.
    if (mergesKeys(here.errors.context.features)) validateTermKeys(constraint, here)
    else validateSpreadKeys(constraint.matchLabelKeys, here.child('matchLabelKeys'), constraint.labelSelector)
    validateSelectorAtOnce(constraint.labelSelector, here.child('labelSelector'))
  })
}

/** Whether `matchLabelKeys` of a new pod become requirements of the selectors of its spread constraints. */
export function mergesKeys(features: Features): boolean {
  const gates = ['MatchLabelKeysInPodTopologySpread', 'MatchLabelKeysInPodTopologySpreadSelectorMerge']
  return gates.every((gate) => gateEnabled(gate, features))
}

function spreadKey({ topologyKey, whenUnsatisfiable }: R<TopologySpreadConstraint>): string {
  return JSON.stringify([topologyKey ?? null, whenUnsatisfiable ?? null])
}

function validateMinDomains(constraint: R<TopologySpreadConstraint>, at: FieldPath): void {
  const { minDomains, whenUnsatisfiable } = constraint
  if (!isSet(minDomains)) return
  if (minDomains <= 0) at.invalid(minDomains, 'must be greater than zero')
  if (whenUnsatisfiable !== 'DoNotSchedule') {
    at.invalid(minDomains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable ?? ''}`)
  }
}

function validateSpreadKeys(
  keys: readonly string[] | null | undefined,
  at: FieldPath,
  selector: R<LabelSelector> | undefined,
): void {
  if (isEmpty(keys)) return
  if (!isSet(selector)) at.forbidden('must not be specified when labelSelector is not set')
  const expressed = new Set(selector?.matchExpressions?.map((expression) => expression.key))
  for (const [i, key] of keys.entries()) {
    validateQualifiedName(key, at.index(i))
    const selected = own(selector?.matchLabels, key) !== undefined || expressed.has(key)
    if (selected) at.index(i).invalid(key, 'exists in both matchLabelKeys and labelSelector')
  }
}
