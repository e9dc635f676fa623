/** Roles, in a namespace or over the whole cluster. */
import { type DeepReadonly, goStrings, nameRules } from '@krmkit/meta'
import type { Strategy } from '../../interfaces.ts'
import type { ClusterRole, PolicyRule, Role } from '../../types/rbac-v1.generated.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { checkLabelSelector } from '../shared/labels.ts'
import { checkMetadata, checkMetadataUpdate } from '../shared/metadata.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../shared/values.ts'

type AnyRole = Role | ClusterRole

function checkRule(rule: R<PolicyRule>, at: FieldPath, namespaced: boolean): void {
  if (isEmpty(rule.verbs)) at.child('verbs').required('verbs must contain at least one value')
  const urls = rule.nonResourceURLs ?? []
  if (urls.length > 0) {
    const here = at.child('nonResourceURLs')
    if (namespaced) here.invalidText(goStrings(urls), 'namespaced rules cannot apply to non-resource URLs')
    if (!isEmpty(rule.apiGroups) || !isEmpty(rule.resources) || !isEmpty(rule.resourceNames)) {
      here.invalidText(goStrings(urls), 'rules cannot apply to both regular resources and non-resource URLs')
    }
    return
  }
  if (isEmpty(rule.apiGroups)) at.child('apiGroups').required('resource rules must supply at least one api group')
  if (isEmpty(rule.resources)) at.child('resources').required('resource rules must supply at least one resource')
}

function checkRole(role: DeepReadonly<AnyRole>, report: Report, namespaced: boolean): void {
  checkMetadata(role, report, { namespaced, name: nameRules.pathSegment })
  for (const [i, rule] of (role.rules ?? []).entries()) checkRule(rule, report.at('rules').index(i), namespaced)
  if (!('aggregationRule' in role) || !isSet(role.aggregationRule)) return
  const at = report.at('aggregationRule').child('clusterRoleSelectors')
  const selectors = role.aggregationRule.clusterRoleSelectors ?? []
  if (selectors.length === 0) at.required('at least one clusterRoleSelector required if aggregationRule is non-nil')
  for (const [i, selector] of selectors.entries()) {
    const before = report.errors.length
    checkLabelSelector(selector, at.index(i))
    if (report.errors.length > before) at.index(i).invalid(null, 'invalid label selector.')
  }
}

function rolePolicyOf(namespaced: boolean): Strategy<AnyRole> {
  return {
    allowCreateOnUpdate: true,
    validate(role, context) {
      return findings(context, (report) => checkRole(role, report, namespaced))
    },
    validateUpdate(role, old, context) {
      return findings(context, (report) => {
        // The stock server checks the whole object in both of its steps.
        checkRole(role, report, namespaced)
        checkRole(role, report, namespaced)
        checkMetadataUpdate(role, old, report)
      })
    },
  }
}

export const roleStrategy = defineStrategy<AnyRole>(rolePolicyOf(true))
export const clusterRoleStrategy = defineStrategy<AnyRole>(rolePolicyOf(false))
