/** ReplicationController. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly, NamingProfile } from '@krmkit/meta'
import { labelSelectorFromLabels } from '@krmkit/meta/selectors'
import type { DefaultsContext } from '../../../interfaces.ts'
import type { PodTemplateSpec, ReplicationController } from '../../../types/core-v1.generated.ts'
import { copy } from '../../shared/copies.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { validateSelectorMatch } from '../../shared/labels.ts'
import { keepMembers, raiseGeneration, startGeneration, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateNotNegative } from '../../shared/numbers.ts'
import { defaultPodTemplate } from '../../shared/pod-defaults.ts'
import { podEmpties } from '../../shared/pod-empties.ts'
import { dropDisabledTemplateFields } from '../../shared/pod-gates.ts'
import { validateAlwaysRunning, validatePodTemplate } from '../../shared/pod-template.ts'
import { podTemplateWarnings } from '../../shared/pod-warnings.ts'
import { validateReplicaStatus } from '../../shared/replicas.ts'
import { lunsOfPods } from '../../shared/required-luns.ts'
import { creationRules, defineStrategy, statusSubresource, updateRules } from '../../shared/strategy.ts'
import { isEmptyMap, isSet, type R } from '../../shared/values.ts'
import { warnPodNames } from '../../shared/workloads.ts'

function* validateSpec(controller: DeepReadonly<ReplicationController>, errors: ContextErrorList): Work {
  const at = errors.child('spec')
  const spec = controller.spec ?? {}
  validateNotNegative(spec.minReadySeconds, at.child('minReadySeconds'))
  if (isEmptyMap(spec.selector)) at.child('selector').required()
  if (isSet(spec.replicas)) validateNotNegative(spec.replicas, at.child('replicas'))
  else at.child('replicas').required()
  yield* validateTemplate(spec.template, at.child('template'), spec.selector)
}

function* validateTemplate(
  template: R<PodTemplateSpec> | undefined,
  at: FieldPath,
  selector: Readonly<Record<string, string>> | undefined,
): Work {
  if (!isSet(template)) {
    at.required()
    return
  }
  if (!isEmptyMap(selector)) yield* validateSelectorMatch(labelSelectorFromLabels(selector ?? {}), template.metadata?.labels, at)
  yield* validatePodTemplate(template, at)
  validateAlwaysRunning(template, at, 'ReplicationController')
}

/** A controller without labels has those of its template. */
function* takeTemplateLabels(controller: ReplicationController): Work {
  const labels = controller.spec?.template?.metadata?.labels
  if (isSet(labels) && isEmptyMap(controller.metadata.labels)) controller.metadata.labels = yield* copy(labels)
}

function* defaultController(
  controller: ReplicationController,
  _version: string,
  _profile: NamingProfile,
  { features }: DefaultsContext = {},
): Work {
  controller.spec ??= {}
  const { spec } = controller
  defaultPodTemplate(spec.template, features)
  const labels = spec.template?.metadata?.labels
  if (isSet(labels) && isEmptyMap(spec.selector)) spec.selector = yield* copy(labels)
  yield* takeTemplateLabels(controller)
  spec.replicas ??= 1
}

export const replicationControllerStrategy = defineStrategy<ReplicationController>({
  distinctEmpties: podEmpties('spec', 'template', 'spec'),
  requiredMembers: { '': lunsOfPods('spec', 'template') },
  defaults: defaultController,
  // kube-apiserver applies its defaults again when it reads the stored object.
  canonicalize: takeTemplateLabels,
  prepareForCreate(controller, context) {
    controller.status = { replicas: 0 }
    startGeneration(controller)
    dropDisabledTemplateFields(controller.spec?.template, undefined, context.features)
  },
  *prepareForUpdate(controller, old, context) {
    yield* keepMembers(controller, old, 'status')
    dropDisabledTemplateFields(controller.spec?.template, old.spec?.template, context.features)
    yield* raiseGeneration(controller, old, 'spec')
  },
  validate: creationRules(function* (errors, controller) {
    yield* validateMetadata(controller, errors, { namespaced: true })
    yield* validateSpec(controller, errors)
  }),
  validateUpdate: updateRules(function* (errors, controller, old) {
    // kube-apiserver before 1.35 validates the object twice on update, so errors appear twice.
    if (!errors.context.features.release.atLeast('1.35')) {
      yield* validateMetadata(controller, errors, { namespaced: true })
      yield* validateSpec(controller, errors)
    }
    yield* validateMetadataUpdate(controller, old, errors)
    yield* validateSpec(controller, errors)
  }),
  warnings(controller, old, { profile, features }) {
    const names = old === undefined ? warnPodNames(controller) : []
    // kube-apiserver warns of the template before the update.
    const { template } = (old ?? controller).spec ?? {}
    const texts = podTemplateWarnings(controller, old, { template, at: 'spec.template', profile, features })
    return [...names, ...texts]
  },
  defaultPropagation: 'Orphan',
  selectableFields: {
    'status.replicas': (controller) => String(controller.status?.replicas ?? 0),
  },
  scale: {
    specReplicas: ['spec', 'replicas'],
    statusReplicas: ['status', 'replicas'],
    selector: (controller) => labelSelectorFromLabels(controller.spec?.selector ?? {}).toString(),
  },
  subresources: {
    status: statusSubresource((controller, errors) => validateReplicaStatus(controller.status ?? {}, errors.child('status'))),
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
