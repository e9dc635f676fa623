/** `matchConstraints` of a policy and `matchResources` of a binding. */
import { nameRules } from '@krmkit/meta'
import type { MatchResources, NamedRuleWithOperations } from '../../types/admissionregistration-v1.generated.ts'
import type { FieldPath } from '../shared/field-path.ts'
import { validateSelector } from '../shared/labels.direct.ts'
import { isSet, type R } from '../shared/values.ts'
import { defaultRules, matchPolicies, validateRule } from './rules.ts'

/** Default: everything, with equivalent versions. */
export function defaultMatchResources(resources: MatchResources | undefined): void {
  if (!isSet(resources)) return
  resources.matchPolicy ??= 'Equivalent'
  resources.namespaceSelector ??= {}
  resources.objectSelector ??= {}
  defaultRules(resources.resourceRules)
  defaultRules(resources.excludeResourceRules)
}

export function validateMatchResources(resources: R<MatchResources> | undefined, at: FieldPath): void {
  if (!isSet(resources)) return
  const policy = resources.matchPolicy
  if (!isSet(policy)) at.child('matchPolicy').required()
  else if (!matchPolicies.includes(policy)) at.child('matchPolicy').notSupported(policy, matchPolicies)
  for (const name of ['namespaceSelector', 'objectSelector'] as const) {
    if (isSet(resources[name])) validateSelector(resources[name], at.child(name))
    else at.child(name).required()
  }
  for (const name of ['resourceRules', 'excludeResourceRules'] as const) {
    for (const [i, rule] of (resources[name] ?? []).entries()) validateNamedRule(rule, at.child(name).index(i))
  }
}

function validateNamedRule(rule: R<NamedRuleWithOperations>, at: FieldPath): void {
  const seen = new Set<string>()
  for (const [i, name] of (rule.resourceNames ?? []).entries()) {
    const here = at.child('resourceNames').index(i)
    here.invalidAll(name, nameRules.pathSegment(name, false))
    if (seen.has(name)) here.duplicate(name)
    seen.add(name)
  }
  validateRule(rule, at)
}
