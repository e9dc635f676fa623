/** Stateful sets. */
import { type DeepReadonly, goQuote, goText, nameRules, validateDns1123Label } from '@krmkit/meta'
import type {
  RollingUpdateStatefulSetStrategy,
  StatefulSet,
  StatefulSetSpec,
  StatefulSetStatus,
  StatefulSetUpdateStrategy,
} from '../../types/apps-v1.generated.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { goNumberOrText, goSelector, goStruct } from '../shared/go-form.ts'
import { checkSelectorMatch } from '../shared/labels.ts'
import { checkMetadata, checkMetadataUpdate, keepMembers, raiseGeneration, startGeneration } from '../shared/metadata.ts'
import { checkNotNegative } from '../shared/numbers.ts'
import { defaultPodTemplate } from '../shared/pod-defaults.ts'
import { dropDisabledPodFields } from '../shared/pod-gates.ts'
import { checkAlwaysRunning } from '../shared/pod-template.ts'
import { podTemplateWarnings } from '../shared/pod-warnings.ts'
import { lunsOfPods } from '../shared/required-luns.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isEmpty, isSet, type R, semanticEqual } from '../shared/values.ts'
import {
  checkAtMostAll,
  checkNotDecremented,
  checkNumberOrPercent,
  checkRequiredSelector,
  numberOrPercent,
  selectorText,
  usableSelector,
} from '../shared/workloads.ts'
import { defaultClaimTemplate, warnClaimTemplate } from './claim-templates.ts'
import { emptyWorkloadSpec } from './empty.ts'
import { checkTemplateMetadata } from './template-metadata.ts'

const historyLimit = 10

function defaults(set: StatefulSet): void {
  set.spec ??= emptyWorkloadSpec()
  const { spec } = set
  spec.template ??= {}
  defaultPodTemplate(spec.template)
  for (const claim of spec.volumeClaimTemplates ?? []) defaultClaimTemplate(claim)
  if (isEmpty(spec.podManagementPolicy)) spec.podManagementPolicy = 'OrderedReady'
  spec.updateStrategy ??= {}
  const strategy = spec.updateStrategy
  if (isEmpty(strategy.type)) {
    strategy.type = 'RollingUpdate'
    strategy.rollingUpdate ??= {}
  }
  if (strategy.type === 'RollingUpdate' && isSet(strategy.rollingUpdate)) strategy.rollingUpdate.partition ??= 0
  spec.persistentVolumeClaimRetentionPolicy ??= {}
  const retention = spec.persistentVolumeClaimRetentionPolicy
  if (isEmpty(retention.whenDeleted)) retention.whenDeleted = 'Retain'
  if (isEmpty(retention.whenScaled)) retention.whenScaled = 'Retain'
  spec.replicas ??= 1
  spec.revisionHistoryLimit ??= historyLimit
}

function checkSpec(set: DeepReadonly<StatefulSet>, report: Report): void {
  const at = report.at('spec')
  const spec: R<StatefulSetSpec> = set.spec ?? emptyWorkloadSpec()
  const management = spec.podManagementPolicy
  if (isEmpty(management)) at.child('podManagementPolicy').required()
  else if (management !== 'OrderedReady' && management !== 'Parallel') {
    at.child('podManagementPolicy').invalid(management, "must be 'OrderedReady' or 'Parallel'")
  }
  checkStrategy(spec.updateStrategy ?? {}, at.child('updateStrategy'))
  checkRetention(spec.persistentVolumeClaimRetentionPolicy, at.child('persistentVolumeClaimRetentionPolicy'))
  checkNotNegative(spec.replicas, at.child('replicas'))
  checkNotNegative(spec.minReadySeconds, at.child('minReadySeconds'))
  checkNotNegative(spec.ordinals?.start, at.child('ordinals.start'))
  checkRequiredSelector(spec.selector, at.child('selector'), 'statefulset')
  const selector = usableSelector(spec.selector)
  const template = spec.template ?? {}
  if (selector === undefined) at.child('selector').invalid(goSelector(spec.selector), '')
  else {
    if (!selector.empty) checkSelectorMatch(selector, template.metadata?.labels, at.child('template'))
    checkTemplateMetadata(template, at.child('template'))
  }
  checkAlwaysRunning(template, at.child('template'), 'StatefulSet')
}

function checkStrategy(strategy: R<StatefulSetUpdateStrategy>, at: FieldPath): void {
  const { type, rollingUpdate } = strategy
  const here = at.child('rollingUpdate')
  if (isEmpty(type)) at.required()
  else if (type === 'OnDelete') {
    if (isSet(rollingUpdate)) here.invalid(goText(printRolling(rollingUpdate)), "only allowed for updateStrategy 'RollingUpdate'")
  } else if (type === 'RollingUpdate') {
    if (isSet(rollingUpdate)) checkRollingUpdate(rollingUpdate, here)
  } else {
    const text = goStruct('apps.StatefulSetUpdateStrategy', {
      Type: goQuote(type),
      RollingUpdate: isSet(rollingUpdate) ? `&${printRolling(rollingUpdate)}` : '(*apps.RollingUpdateStatefulSetStrategy)(nil)',
    })
    at.invalid(goText(text), "must be 'RollingUpdate' or 'OnDelete'")
  }
}

function printRolling({ partition, maxUnavailable }: R<RollingUpdateStatefulSetStrategy>): string {
  return goStruct('apps.RollingUpdateStatefulSetStrategy', {
    Partition: String(partition ?? 0),
    MaxUnavailable: isSet(maxUnavailable) ? `&${goNumberOrText(maxUnavailable).text}` : '(*intstr.IntOrString)(nil)',
  })
}

function checkRollingUpdate({ partition, maxUnavailable }: R<RollingUpdateStatefulSetStrategy>, at: FieldPath): void {
  checkNotNegative(partition, at.child('partition'))
  if (!isSet(maxUnavailable)) return
  const here = at.child('maxUnavailable')
  checkNumberOrPercent(maxUnavailable, here)
  if (numberOrPercent(maxUnavailable) === 0) here.invalid(goNumberOrText(maxUnavailable), 'cannot be 0')
  checkAtMostAll(maxUnavailable, here)
}

const retentions = ['Retain', 'Delete']

function checkRetention(policy: R<StatefulSetSpec>['persistentVolumeClaimRetentionPolicy'], at: FieldPath): void {
  if (!isSet(policy)) return
  for (const name of ['whenDeleted', 'whenScaled'] as const) {
    const value = policy[name] ?? ''
    if (!retentions.includes(value)) at.child(name).notSupported(value, retentions)
  }
}

/** Members of the specification that may change. */
const mutable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const

function checkUpdate(set: DeepReadonly<StatefulSet>, old: DeepReadonly<StatefulSet>, report: Report): void {
  if (semanticEqual(withoutMutable(set), withoutMutable(old))) return
  const names = mutable.map((name) => `'${name}'`)
  const list = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
  report.at('spec').forbidden(`updates to statefulset spec for fields other than ${list} are forbidden`)
}

function withoutMutable(set: DeepReadonly<StatefulSet>): object {
  const spec: Record<string, unknown> = { ...set.spec }
  for (const name of mutable) delete spec[name]
  return spec
}

function checkStatus(status: R<StatefulSetStatus>, at: FieldPath): void {
  const { replicas = 0, readyReplicas = 0, currentReplicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status
  const counts = { replicas, readyReplicas, currentReplicas, updatedReplicas, availableReplicas }
  for (const [name, count] of Object.entries(counts)) checkNotNegative(count, at.child(name))
  checkNotNegative(status.observedGeneration, at.child('observedGeneration'))
  checkNotNegative(status.collisionCount, at.child('collisionCount'))
  for (const [name, count] of Object.entries(counts)) {
    if (count > replicas) at.child(name).invalid(count, 'cannot be greater than status.replicas')
  }
  if (availableReplicas > readyReplicas)
    at.child('availableReplicas').invalid(availableReplicas, 'cannot be greater than status.readyReplicas')
}

export const statefulSetStrategy = defineStrategy<StatefulSet>({
  requiredMembers: { '': lunsOfPods('spec', 'template') },
  defaults,
  prepareForCreate(set, context) {
    set.status = { replicas: 0, availableReplicas: 0 }
    startGeneration(set)
    dropDisabled(set, undefined)
    const spec = set.spec?.template?.spec
    if (isSet(spec)) dropDisabledPodFields(spec, undefined, context.features)
  },
  prepareForUpdate(set, old, context) {
    keepMembers(set, old, 'status')
    dropDisabled(set, old)
    const spec = set.spec?.template?.spec
    if (isSet(spec)) dropDisabledPodFields(spec, old.spec?.template?.spec, context.features)
    raiseGeneration(set, old, 'spec')
  },
  validate(set, context) {
    return findings(context, (report) => {
      checkMetadata(set, report, { namespaced: true, name: nameRules.dns1123Label })
      checkSpec(set, report)
      const service = set.spec?.serviceName
      if (!isEmpty(service)) report.at('spec').child('serviceName').invalidAll(service, validateDns1123Label(service))
    })
  },
  validateUpdate(set, old, context) {
    return findings(context, (report) => {
      checkMetadataUpdate(set, old, report)
      checkSpec(set, report)
      checkUpdate(set, old, report)
    })
  },
  warnings(set, old, { profile }) {
    if (old !== undefined && old.metadata.generation === set.metadata.generation) return []
    const texts = podTemplateWarnings(set, old, { template: set.spec?.template, at: 'spec.template', profile })
    for (const [i, claim] of (set.spec?.volumeClaimTemplates ?? []).entries()) {
      warnClaimTemplate(texts, claim, `spec.volumeClaimTemplates[${i}]`)
    }
    if ((set.spec?.revisionHistoryLimit ?? 0) < 0) {
      texts.push('spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended')
    }
    return texts
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
          checkStatus(set.status ?? { replicas: 0 }, report.at('status'))
          checkMetadataUpdate(set, old, report)
          const at = report.at('status').child('collisionCount')
          checkNotDecremented(set.status?.collisionCount, old.status?.collisionCount, at)
        })
      },
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})

/** `maxUnavailable` exists behind a gate that is off. */
function dropDisabled(set: StatefulSet, old: DeepReadonly<StatefulSet> | undefined): void {
  if (isSet(old?.spec?.updateStrategy?.rollingUpdate?.maxUnavailable)) return
  delete set.spec?.updateStrategy?.rollingUpdate?.maxUnavailable
}
