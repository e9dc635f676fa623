/** Replica sets. */
import type { DeepReadonly } from '@krmkit/meta'
import type { ReplicaSet, ReplicaSetSpec } from '../../types/apps-v1.generated.ts'
import type { Report } from '../shared/field-path.ts'
import { checkMetadata, checkMetadataUpdate, keepMembers, raiseGeneration, startGeneration } from '../shared/metadata.ts'
import { checkNotNegative } from '../shared/numbers.ts'
import { defaultPodTemplate } from '../shared/pod-defaults.ts'
import { dropDisabledPodFields } from '../shared/pod-gates.ts'
import { podTemplateWarnings } from '../shared/pod-warnings.ts'
import { checkReplicaStatus } from '../shared/replicas.ts'
import { lunsOfPods } from '../shared/required-luns.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isSet, type R } from '../shared/values.ts'
import { checkRequiredSelector, checkSameSelector, selectorText, warnPodNames } from '../shared/workloads.ts'
import { emptyWorkloadSpec } from './empty.ts'
import { checkReplicaTemplate } from './replica-template.ts'

function checkSpec(set: DeepReadonly<ReplicaSet>, report: Report): void {
  const at = report.at('spec')
  const spec: R<ReplicaSetSpec> = set.spec ?? emptyWorkloadSpec()
  checkNotNegative(spec.replicas, at.child('replicas'))
  checkNotNegative(spec.minReadySeconds, at.child('minReadySeconds'))
  // The word in the message is the stock server's.
  checkRequiredSelector(spec.selector, at.child('selector'), 'deployment')
  checkReplicaTemplate({ selector: spec.selector, template: spec.template ?? {} }, at)
}

export const replicaSetStrategy = defineStrategy<ReplicaSet>({
  requiredMembers: { '': lunsOfPods('spec', 'template') },
  defaults(set) {
    set.spec ??= emptyWorkloadSpec()
    set.spec.template ??= {}
    defaultPodTemplate(set.spec.template)
    set.spec.replicas ??= 1
  },
  prepareForCreate(set, context) {
    set.status = { replicas: 0 }
    startGeneration(set)
    const spec = set.spec?.template?.spec
    if (isSet(spec)) dropDisabledPodFields(spec, undefined, context.features)
  },
  prepareForUpdate(set, old, context) {
    keepMembers(set, old, 'status')
    const spec = set.spec?.template?.spec
    if (isSet(spec)) dropDisabledPodFields(spec, old.spec?.template?.spec, context.features)
    raiseGeneration(set, old, 'spec')
  },
  validate(set, context) {
    return findings(context, (report) => {
      checkMetadata(set, report, { namespaced: true })
      checkSpec(set, report)
    })
  },
  validateUpdate(set, old, context) {
    return findings(context, (report) => {
      checkMetadataUpdate(set, old, report)
      checkSpec(set, report)
      checkSameSelector(set.spec?.selector, old.spec?.selector, report.at('spec').child('selector'))
    })
  },
  warnings(set, old, { profile }) {
    const names = old === undefined ? warnPodNames(set) : []
    return [...names, ...podTemplateWarnings(set, old, { template: set.spec?.template, at: 'spec.template', profile })]
  },
  selectableFields: {
    'status.replicas': (set) => String(set.status?.replicas ?? 0),
  },
  scale: {
    specReplicas: ['spec', 'replicas'],
    statusReplicas: ['status', 'replicas'],
    selector: (set) => selectorText(set.spec?.selector),
  },
  subresources: {
    status: {
      prepareForUpdate(set, old) {
        keepMembers(set, old, 'spec')
      },
      validateUpdate(set, old, context) {
        return findings(context, (report) => {
          checkMetadataUpdate(set, old, report)
          checkReplicaStatus(set.status ?? {}, report.at('status'))
        })
      },
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
