/** ResourceClaimTemplate. */
import type { DeepReadonly } from '@krmkit/meta'
import type { ResourceClaimTemplate } from '../../../types/resource-v1beta1.generated.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { dropGatedFields } from '../../shared/gated-fields.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import type { Steps } from '../../shared/steps.ts'
import { creationSteps, defineStrategy, updateSteps } from '../../shared/strategy.ts'
import { semanticEqualSteps } from '../../shared/value-steps.ts'
import { validateAdminRequests } from '../admin-access.ts'
import { claimSpecGates } from '../claim-gates.ts'
import { claimEmpties, claimSpecReady, defaultClaimSpec, isSameClaimSpec, validateClaimSpec } from '../claim-spec.ts'
import { goTemplateSpec } from '../go-form.ts'
import { type SelectorChecks, selectorChecks } from '../selectors.ts'
import { validateTemplateMetadata } from '../template-metadata.ts'

type Template = DeepReadonly<ResourceClaimTemplate>

const table = claimSpecGates('spec.spec')
const noMetadata: NonNullable<Template['spec']['metadata']> = {}

function* validateSpec({ spec }: Template, errors: ContextErrorList, checks: SelectorChecks): Steps {
  const at = errors.child('spec')
  yield* validateTemplateMetadata(spec?.metadata, at.child('metadata'))
  yield* validateClaimSpec(spec?.spec, at.child('spec'), checks)
}

function* sameSpec({ spec }: Template, { spec: old }: Template): Steps<boolean> {
  const sameClaim = yield* isSameClaimSpec(spec?.spec, old?.spec)
  return sameClaim && (yield* semanticEqualSteps(spec?.metadata ?? noMetadata, old?.metadata ?? noMetadata))
}

export const resourceClaimTemplateStrategy = /* @__PURE__ */ defineStrategy<ResourceClaimTemplate>({
  distinctEmpties: [
    ...claimEmpties('spec', 'spec'),
    ['spec', 'metadata', 'ownerReferences'],
    ['spec', 'metadata', 'finalizers'],
    ['spec', 'metadata', 'managedFields'],
  ],
  defaults: (template, version) => defaultClaimSpec(template.spec?.spec, version),
  prepareForCreate: (template, { features }) => dropGatedFields(template, undefined, { table, features }),
  prepareForUpdate: (template, old, { features }) => dropGatedFields(template, old, { table, features }),
  ready: ({ spec }) => claimSpecReady(spec?.spec),
  validate: creationSteps(function* (errors, template: Template, context) {
    validateAdminRequests(template, template.spec?.spec, errors)
    yield* validateMetadata(template, errors, { namespaced: true })
    yield* validateSpec(template, errors, selectorChecks(context, false))
  }),
  validateUpdate: updateSteps(function* (errors, template: Template, old, context) {
    yield* validateMetadata(template, errors, { namespaced: true })
    yield* validateSpec(template, errors, selectorChecks(context, false))
    yield* validateMetadataUpdate(template, old, errors)
    if (!(yield* sameSpec(template, old))) errors.child('spec').invalid(goTemplateSpec(template.spec), 'field is immutable')
    yield* validateSpec(template, errors, selectorChecks(context, true))
  }),
  deleteAnswer: 'Object',
})
