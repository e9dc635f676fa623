/** ReplicaSet. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import type { ReplicaSet, ReplicaSetSpec } from '../../../types/apps-v1.generated.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { keepMembers, raiseGeneration, startGeneration, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateNotNegative } from '../../shared/numbers.ts'
import { defaultPodTemplate } from '../../shared/pod-defaults.ts'
import { podEmpties } from '../../shared/pod-empties.ts'
import { dropDisabledTemplateFields } from '../../shared/pod-gates.ts'
import { podTemplateWarnings } from '../../shared/pod-warnings.ts'
import { dropTerminatingReplicas, validateReplicaStatus } from '../../shared/replicas.ts'
import { lunsOfPods } from '../../shared/required-luns.ts'
import { creationRules, defineStrategy, statusSubresource, updateRules } from '../../shared/strategy.ts'
import type { R } from '../../shared/values.ts'
import {
  emptyWorkloadSpec,
  selectorText,
  validateRequiredSelector,
  validateSameSelector,
  warnPodNames,
} from '../../shared/workloads.ts'
import { validateReplicaTemplate } from './template.ts'

function* validateSpec(set: DeepReadonly<ReplicaSet>, errors: ContextErrorList): Work {
  const at = errors.child('spec')
  const spec: R<ReplicaSetSpec> = set.spec ?? emptyWorkloadSpec()
  validateNotNegative(spec.replicas, at.child('replicas'))
  validateNotNegative(spec.minReadySeconds, at.child('minReadySeconds'))
  // kube-apiserver prints `deployment` here.
  yield* validateRequiredSelector(spec.selector, at.child('selector'), 'deployment')
  yield* validateReplicaTemplate({ selector: spec.selector, template: spec.template ?? {} }, at)
}

export const replicaSetStrategy = defineStrategy<ReplicaSet>({
  distinctEmpties: podEmpties('spec', 'template', 'spec'),
  requiredMembers: { '': lunsOfPods('spec', 'template') },
  defaults(set, _version, _profile, { features } = {}) {
    set.spec ??= emptyWorkloadSpec()
    set.spec.template ??= {}
    defaultPodTemplate(set.spec.template, features)
    set.spec.replicas ??= 1
  },
  prepareForCreate(set, context) {
    set.status = { replicas: 0 }
    startGeneration(set)
    dropDisabledTemplateFields(set.spec?.template, undefined, context.features)
  },
  *prepareForUpdate(set, old, context) {
    yield* keepMembers(set, old, 'status')
    dropDisabledTemplateFields(set.spec?.template, old.spec?.template, context.features)
    yield* raiseGeneration(set, old, 'spec')
  },
  validate: creationRules(function* (errors, set) {
    yield* validateMetadata(set, errors, { namespaced: true })
    yield* validateSpec(set, errors)
  }),
  validateUpdate: updateRules(function* (errors, set, old) {
    // kube-apiserver before 1.34 validates the object twice on update, so errors appear twice.
    if (!errors.context.features.release.atLeast('1.34')) {
      yield* validateMetadata(set, errors, { namespaced: true })
      yield* validateSpec(set, errors)
    }
    yield* validateMetadataUpdate(set, old, errors)
    yield* validateSpec(set, errors)
    yield* validateSameSelector(set.spec?.selector, old.spec?.selector, errors.child('spec').child('selector'))
  }),
  warnings(set, old, { profile, features }) {
    const names = old === undefined ? warnPodNames(set) : []
    return [...names, ...podTemplateWarnings(set, old, { template: set.spec?.template, at: 'spec.template', profile, features })]
  },
  scale: {
    specReplicas: ['spec', 'replicas'],
    statusReplicas: ['status', 'replicas'],
    selector: (set) => selectorText(set.spec?.selector),
  },
  subresources: {
    status: {
      ...statusSubresource<ReplicaSet>((set, errors) => validateReplicaStatus(set.status ?? {}, errors.child('status'))),
      *prepareForUpdate(set, old, { features }) {
        yield* keepMembers(set, old, 'spec')
        dropTerminatingReplicas(set.status, old.status, features)
      },
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
