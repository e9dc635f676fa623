/** Replication controllers. */
import { type DeepReadonly, labelSelectorFromLabels } from '@krmkit/meta'
import type { PodTemplateSpec, ReplicationController } from '../../types/core-v1.generated.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { checkSelectorMatch } from '../shared/labels.ts'
import { checkMetadata, checkMetadataUpdate, keepMembers, raiseGeneration, startGeneration } from '../shared/metadata.ts'
import { checkNotNegative } from '../shared/numbers.ts'
import { defaultPodTemplate } from '../shared/pod-defaults.ts'
import { dropDisabledPodFields } from '../shared/pod-gates.ts'
import { checkAlwaysRunning, checkPodTemplate } from '../shared/pod-template.ts'
import { podTemplateWarnings } from '../shared/pod-warnings.ts'
import { checkReplicaStatus } from '../shared/replicas.ts'
import { lunsOfPods } from '../shared/required-luns.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isEmptyMap, isSet, type R } from '../shared/values.ts'

function checkSpec(controller: DeepReadonly<ReplicationController>, report: Report): void {
  const at = report.at('spec')
  const spec = controller.spec ?? {}
  checkNotNegative(spec.minReadySeconds, at.child('minReadySeconds'))
  if (isEmptyMap(spec.selector)) at.child('selector').required()
  if (isSet(spec.replicas)) checkNotNegative(spec.replicas, at.child('replicas'))
  else at.child('replicas').required()
  checkTemplate(spec.template, at.child('template'), spec.selector)
}

function checkTemplate(
  template: R<PodTemplateSpec> | undefined,
  at: FieldPath,
  selector: Readonly<Record<string, string>> | undefined,
): void {
  if (!isSet(template)) {
    at.required()
    return
  }
  if (!isEmptyMap(selector)) checkSelectorMatch(labelSelectorFromLabels(selector ?? {}), template.metadata?.labels, at)
  checkPodTemplate(template, at)
  checkAlwaysRunning(template, at, 'ReplicationController')
}

export const replicationControllerStrategy = defineStrategy<ReplicationController>({
  requiredMembers: { '': lunsOfPods('spec', 'template') },
  defaults(controller) {
    controller.spec ??= {}
    const { spec } = controller
    defaultPodTemplate(spec.template)
    const labels = spec.template?.metadata?.labels
    if (isSet(labels)) {
      if (isEmptyMap(spec.selector)) spec.selector = { ...labels }
      if (isEmptyMap(controller.metadata.labels)) controller.metadata.labels = { ...labels }
    }
    spec.replicas ??= 1
  },
  prepareForCreate(controller, context) {
    controller.status = { replicas: 0 }
    startGeneration(controller)
    const spec = controller.spec?.template?.spec
    if (isSet(spec)) dropDisabledPodFields(spec, undefined, context.features)
  },
  prepareForUpdate(controller, old, context) {
    keepMembers(controller, old, 'status')
    const spec = controller.spec?.template?.spec
    if (isSet(spec)) dropDisabledPodFields(spec, old.spec?.template?.spec, context.features)
    raiseGeneration(controller, old, 'spec')
  },
  validate(controller, context) {
    return findings(context, (report) => {
      checkMetadata(controller, report, { namespaced: true })
      checkSpec(controller, report)
    })
  },
  validateUpdate(controller, old, context) {
    return findings(context, (report) => {
      checkMetadata(controller, report, { namespaced: true })
      checkSpec(controller, report)
      checkMetadataUpdate(controller, old, report)
      // The stock server checks the specification in both of its steps, and so reports it twice.
      checkSpec(controller, report)
    })
  },
  warnings(controller, old, { profile }) {
    return podTemplateWarnings(controller, old, { template: controller.spec?.template, at: 'spec.template', profile })
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
    status: {
      prepareForUpdate(controller, old) {
        keepMembers(controller, old, 'spec')
      },
      validateUpdate(controller, old, context) {
        return findings(context, (report) => {
          checkMetadataUpdate(controller, old, report)
          checkReplicaStatus(controller.status ?? {}, report.at('status'))
        })
      },
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
