/** Rules of templates of claims. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import type { ResourceClaimTemplate } from '../../../types/resource-v1beta1.generated.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, updateRules } from '../../shared/strategy.ts'
import { validateAdminRequests } from '../admin-access.ts'
import { isSameClaimSpec, validateClaimSpec } from '../claim-spec.ts'
import { goTemplateSpec } from '../go-form.ts'
import { SelectorChecks } from '../selectors.ts'
import { validateTemplateMetadata } from '../template-metadata.ts'

type Template = DeepReadonly<ResourceClaimTemplate>

const noMetadata: NonNullable<Template['spec']['metadata']> = {}

function* validateSpec({ spec }: Template, errors: ContextErrorList, checks: SelectorChecks): Work {
  const at = errors.child('spec')
  yield* validateTemplateMetadata(spec?.metadata, at.child('metadata'))
  yield* validateClaimSpec(spec?.spec, at.child('spec'), checks)
}

function* isSameSpec({ spec }: Template, { spec: old }: Template): Work<boolean> {
  const sameClaim = yield* isSameClaimSpec(spec?.spec, old?.spec)
  return sameClaim && (yield* semanticEqual(spec?.metadata ?? noMetadata, old?.metadata ?? noMetadata))
}

export const validate = /* @__PURE__ */ creationRules(function* (errors, template: Template, context) {
  validateAdminRequests(template, template.spec?.spec, errors)
  yield* validateMetadata(template, errors, { namespaced: true })
  yield* validateSpec(template, errors, new SelectorChecks(context, false))
})

/** kube-apiserver validates an update as a creation first. */
export const validateUpdate = /* @__PURE__ */ updateRules(function* (errors, template: Template, old, context) {
  yield* validateMetadata(template, errors, { namespaced: true })
  yield* validateSpec(template, errors, new SelectorChecks(context, false))
  yield* validateMetadataUpdate(template, old, errors)
  if (!(yield* isSameSpec(template, old))) errors.child('spec').invalid(goTemplateSpec(template.spec), 'field is immutable')
  // Since 1.35 a specification, which cannot change, is not validated again.
  if (!context.features.release.atLeast('1.35')) yield* validateSpec(template, errors, new SelectorChecks(context, true))
})
