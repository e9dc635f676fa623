/** Role and ClusterRole. */

import type { Work } from '@krmkit/base/work'
import { type DeepReadonly, type NameRule, nameRules } from '@krmkit/meta'
import { goStrings } from '@krmkit/meta/go-text'
import type { Strategy } from '../../interfaces.ts'
import type { ClusterRole, PolicyRule, Role } from '../../types/rbac-v1.generated.ts'
import type { ContextErrorList, FieldPath } from '../shared/field-path.ts'
import { validateSelector } from '../shared/labels.direct.ts'
import { validateMetadata, validateMetadataUpdate } from '../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../shared/values.ts'

type AnyRole = Role | ClusterRole

function validateRule(rule: R<PolicyRule>, at: FieldPath, namespaced: boolean): void {
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

/** A path segment; a prefix of a generated name has to be one, too. */
export const validateRbacName: NameRule = (name) => nameRules.pathSegment(name, false)

function* validateRole(role: DeepReadonly<AnyRole>, errors: ContextErrorList, namespaced: boolean): Work {
  yield* validateMetadata(role, errors, { namespaced, name: validateRbacName })
  for (const [i, rule] of (role.rules ?? []).entries()) validateRule(rule, errors.child('rules').index(i), namespaced)
  if (!('aggregationRule' in role) || !isSet(role.aggregationRule)) return
  const at = errors.child('aggregationRule').child('clusterRoleSelectors')
  const selectors = role.aggregationRule.clusterRoleSelectors ?? []
  if (selectors.length === 0) at.required('at least one clusterRoleSelector required if aggregationRule is non-nil')
  for (const [i, selector] of selectors.entries()) {
    const before = errors.length
    validateSelector(selector, at.index(i))
    if (errors.length > before) at.index(i).invalid(null, 'invalid label selector.')
  }
}

function roleStrategyOf(namespaced: boolean): Strategy<AnyRole> {
  return {
    allowCreateOnUpdate: true,
    validate: creationRules((errors, role) => validateRole(role, errors, namespaced)),
    validateUpdate: updateRules(function* (errors, role, old) {
      // kube-apiserver before 1.35 validates the object twice on update.
      if (!errors.context.features.release.atLeast('1.35')) yield* validateRole(role, errors, namespaced)
      yield* validateRole(role, errors, namespaced)
      yield* validateMetadataUpdate(role, old, errors)
    }),
  }
}

export const roleStrategy = defineStrategy<AnyRole>(roleStrategyOf(true))
export const clusterRoleStrategy = defineStrategy<AnyRole>(roleStrategyOf(false))
