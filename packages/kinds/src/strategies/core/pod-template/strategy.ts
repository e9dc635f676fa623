/** PodTemplate. */
import type { PodTemplate } from '../../../types/core-v1.generated.ts'
import { raiseGeneration, startGeneration, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { defaultPodTemplate } from '../../shared/pod-defaults.ts'
import { podEmpties } from '../../shared/pod-empties.ts'
import { dropDisabledPodFields } from '../../shared/pod-gates.ts'
import { validatePodTemplate } from '../../shared/pod-template.ts'
import { podTemplateWarnings } from '../../shared/pod-warnings.ts'
import { lunsOfPods } from '../../shared/required-luns.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isSet } from '../../shared/values.ts'

export const podTemplateStrategy = defineStrategy<PodTemplate>({
  distinctEmpties: podEmpties('template', 'spec'),
  requiredMembers: { '': lunsOfPods('template') },
  defaults(object, _version, _profile, { features } = {}) {
    object.template ??= {}
    defaultPodTemplate(object.template, features)
  },
  prepareForCreate(object, context) {
    startGeneration(object)
    if (isSet(object.template?.spec)) dropDisabledPodFields(object.template.spec, undefined, context.features)
  },
  *prepareForUpdate(object, old, context) {
    if (isSet(object.template?.spec)) dropDisabledPodFields(object.template.spec, old.template?.spec, context.features)
    yield* raiseGeneration(object, old, 'template')
  },
  validate: creationRules(function* (errors, object) {
    yield* validateMetadata(object, errors, { namespaced: true })
    yield* validatePodTemplate(object.template, errors.child('template'))
  }),
  validateUpdate: updateRules(function* (errors, object, old) {
    yield* validateMetadataUpdate(object, old, errors)
    yield* validatePodTemplate(object.template, errors.child('template'))
  }),
  warnings(object, old, { profile, features }) {
    return podTemplateWarnings(object, old, { template: object.template, at: 'template', profile, features })
  },
  deleteResponse: 'Object',
})
