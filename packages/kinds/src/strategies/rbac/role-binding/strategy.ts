/** RoleBinding and ClusterRoleBinding. */

import type { Work } from '@krmkit/base/work'
import { type DeepReadonly, nameRules } from '@krmkit/meta'
import { goQuote, goText } from '@krmkit/meta/go-text'
import type { Strategy } from '../../../interfaces.ts'
import type { ClusterRoleBinding, RoleBinding, Subject } from '../../../types/rbac-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.direct.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateDnsSubdomain } from '../../shared/names.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { validateRbacName } from '../role.ts'

type AnyBinding = RoleBinding | ClusterRoleBinding

/** The API group of the object, which is that of subjects and roles too. */
function groupOf(binding: { readonly apiVersion: string }): string {
  return binding.apiVersion.slice(0, binding.apiVersion.indexOf('/'))
}

function validateSubject(
  subject: R<Subject>,
  at: FieldPath,
  options: { readonly namespaced: boolean; readonly group: string },
): void {
  const apiGroup = subject.apiGroup ?? ''
  if (isEmpty(subject.name)) at.child('name').required()
  switch (subject.kind) {
    case 'ServiceAccount':
      if (!isEmpty(subject.name)) validateDnsSubdomain(subject.name, at.child('name'))
      if (apiGroup !== '') at.child('apiGroup').notSupported(apiGroup, [''])
      if (!options.namespaced && isEmpty(subject.namespace)) at.child('namespace').required()
      break
    case 'User':
    case 'Group':
      if (apiGroup !== options.group) at.child('apiGroup').notSupported(apiGroup, [options.group])
      break
    default:
      at.child('kind').notSupported(subject.kind, ['ServiceAccount', 'User', 'Group'])
  }
}

function* validateBinding(binding: DeepReadonly<AnyBinding>, errors: ContextErrorList, namespaced: boolean): Work {
  yield* validateMetadata(binding, errors, { namespaced, name: validateRbacName })
  const group = groupOf(binding)
  const { apiGroup = '', kind = '', name = '' } = binding.roleRef ?? {}
  const at = errors.child('roleRef')
  if (apiGroup !== group) at.child('apiGroup').notSupported(apiGroup, [group])
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']
  if (!kinds.includes(kind)) at.child('kind').notSupported(kind, kinds)
  if (name === '') at.child('name').required()
  else at.child('name').invalidAll(name, nameRules.pathSegment(name, false))
  for (const [i, subject] of (binding.subjects ?? []).entries()) {
    validateSubject(subject, errors.child('subjects').index(i), { namespaced, group })
  }
}

function printRef({ apiGroup, kind, name }: { readonly apiGroup: string; readonly kind: string; readonly name: string }) {
  return goText(`rbac.RoleRef{APIGroup:${goQuote(apiGroup)}, Kind:${goQuote(kind)}, Name:${goQuote(name)}}`)
}

function bindingStrategyOf(namespaced: boolean): Strategy<AnyBinding> {
  return {
    allowCreateOnUpdate: true,
    defaults(binding) {
      const group = groupOf(binding)
      if (isSet(binding.roleRef) && isEmpty(binding.roleRef.apiGroup)) binding.roleRef.apiGroup = group
      for (const subject of binding.subjects ?? []) {
        if (isEmpty(subject.apiGroup) && (subject.kind === 'User' || subject.kind === 'Group')) subject.apiGroup = group
      }
    },
    validate: creationRules((errors, binding) => validateBinding(binding, errors, namespaced)),
    validateUpdate: updateRules(function* (errors, binding, old) {
      // kube-apiserver before 1.35 validates the object twice on update.
      if (!errors.context.features.release.atLeast('1.35')) yield* validateBinding(binding, errors, namespaced)
      yield* validateBinding(binding, errors, namespaced)
      yield* validateMetadataUpdate(binding, old, errors)
      if (!semanticEqual(binding.roleRef, old.roleRef)) {
        const detail = errors.context.features.release.atLeast('1.37') ? 'field is immutable' : 'cannot change roleRef'
        errors.child('roleRef').invalid(printRef(binding.roleRef), detail)
      }
    }),
  }
}

export const roleBindingStrategy = defineStrategy<AnyBinding>(bindingStrategyOf(true))
export const clusterRoleBindingStrategy = defineStrategy<AnyBinding>(bindingStrategyOf(false))
