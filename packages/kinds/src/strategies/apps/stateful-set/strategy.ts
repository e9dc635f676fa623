/** StatefulSet. */

import type { Work } from '@krmkit/base/work'
import { type DeepReadonly, type NamingProfile, nameRules } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { goQuote, goText } from '@krmkit/meta/go-text'
import { validateDns1123Label } from '@krmkit/meta/names'
import type { DefaultsContext } from '../../../interfaces.ts'
import type {
  RollingUpdateStatefulSetStrategy,
  StatefulSet,
  StatefulSetSpec,
  StatefulSetStatus,
  StatefulSetUpdateStrategy,
} from '../../../types/apps-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { dropGatedFields, type GatedFields } from '../../shared/gated-fields.ts'
import { goNumberOrText, goPointer, goSelector, goStruct } from '../../shared/go-form.ts'
import { numberOrPercent, validateAtMostAll, validateIntOrPercent } from '../../shared/int-or-percent.ts'
import { validateSelectorMatch } from '../../shared/labels.ts'
import { keepMembers, raiseGeneration, startGeneration, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateNotNegative } from '../../shared/numbers.ts'
import { defaultPodTemplate } from '../../shared/pod-defaults.ts'
import { podEmpties } from '../../shared/pod-empties.ts'
import { dropDisabledTemplateFields } from '../../shared/pod-gates.ts'
import { validateAlwaysRunning, validatePodTemplate } from '../../shared/pod-template.ts'
import { podTemplateWarnings, warnStorage } from '../../shared/pod-warnings.ts'
import { lunsOfPods } from '../../shared/required-luns.ts'
import { creationRules, defineStrategy, updateRules, validateWith } from '../../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import {
  compileSelector,
  emptyWorkloadSpec,
  selectorText,
  validateNotDecremented,
  validateRequiredSelector,
} from '../../shared/workloads.ts'
import { defaultClaimTemplate } from './claim-templates.ts'
import { templateOfPods, validateClaimTemplates } from './template.ts'
import { validateTemplateMetadata } from './template-metadata.ts'

const historyLimit = 10

function defaults(set: StatefulSet, _version: string, _profile: NamingProfile, { features }: DefaultsContext = {}): void {
  set.spec ??= emptyWorkloadSpec()
  const { spec } = set
  spec.template ??= {}
  defaultPodTemplate(spec.template, features)
  for (const claim of spec.volumeClaimTemplates ?? []) defaultClaimTemplate(claim)
  if (isEmpty(spec.podManagementPolicy)) spec.podManagementPolicy = 'OrderedReady'
  spec.updateStrategy ??= {}
  const strategy = spec.updateStrategy
  if (isEmpty(strategy.type)) {
    strategy.type = 'RollingUpdate'
    strategy.rollingUpdate ??= {}
  }
  if (strategy.type === 'RollingUpdate' && isSet(strategy.rollingUpdate)) {
    strategy.rollingUpdate.partition ??= 0
    if (features !== undefined && gateEnabled('MaxUnavailableStatefulSet', features)) strategy.rollingUpdate.maxUnavailable ??= 1
  }
  spec.persistentVolumeClaimRetentionPolicy ??= {}
  const retention = spec.persistentVolumeClaimRetentionPolicy
  if (isEmpty(retention.whenDeleted)) retention.whenDeleted = 'Retain'
  if (isEmpty(retention.whenScaled)) retention.whenScaled = 'Retain'
  spec.replicas ??= 1
  spec.revisionHistoryLimit ??= historyLimit
}

interface SpecRules {
  readonly isNew: boolean
  /** The template is that of a stored set with errors, which the set may keep. Default false. */
  readonly skipsTemplate?: boolean
}

function* validateSpec(set: DeepReadonly<StatefulSet>, errors: ContextErrorList, { isNew, skipsTemplate }: SpecRules): Work {
  const at = errors.child('spec')
  const spec: R<StatefulSetSpec> = set.spec ?? emptyWorkloadSpec()
  const management = spec.podManagementPolicy
  if (isEmpty(management)) at.child('podManagementPolicy').required()
  else if (management !== 'OrderedReady' && management !== 'Parallel') {
    at.child('podManagementPolicy').invalid(management, "must be 'OrderedReady' or 'Parallel'")
  }
  validateStrategy(spec.updateStrategy ?? {}, at.child('updateStrategy'))
  validateRetention(spec.persistentVolumeClaimRetentionPolicy, at.child('persistentVolumeClaimRetentionPolicy'))
  const isLater = errors.context.features.release.atLeast('1.34')
  if (isLater && isNew) validateClaimTemplates(spec, at.child('volumeClaimTemplates'))
  validateNotNegative(spec.replicas, at.child('replicas'))
  validateNotNegative(spec.minReadySeconds, at.child('minReadySeconds'))
  validateNotNegative(spec.ordinals?.start, at.child('ordinals.start'))
  // A stored name stays valid.
  if (isNew && !isEmpty(spec.serviceName))
    at.child('serviceName').invalidAll(spec.serviceName, validateDns1123Label(spec.serviceName))
  yield* validateRequiredSelector(spec.selector, at.child('selector'), 'statefulset')
  // A large selector takes a step to compile, and one to match.
  yield true
  const selector = compileSelector(spec.selector)
  const template = spec.template ?? {}
  yield true
  if (selector === undefined) at.child('selector').invalid(goSelector(spec.selector), '')
  else {
    if (!selector.empty) yield* validateSelectorMatch(selector, template.metadata?.labels, at.child('template'))
    if (isLater && skipsTemplate !== true) yield* validatePodTemplate(templateOfPods(spec), at.child('template'))
    yield* validateTemplateMetadata(template, at.child('template'))
  }
  validateAlwaysRunning(template, at.child('template'), 'StatefulSet')
}

function validateStrategy(strategy: R<StatefulSetUpdateStrategy>, at: FieldPath): void {
  const { type, rollingUpdate } = strategy
  const here = at.child('rollingUpdate')
  if (isEmpty(type)) at.required()
  else if (type === 'OnDelete') {
    if (isSet(rollingUpdate)) here.invalid(goText(printRolling(rollingUpdate)), "only allowed for updateStrategy 'RollingUpdate'")
  } else if (type === 'RollingUpdate') {
    if (isSet(rollingUpdate)) validateRollingUpdate(rollingUpdate, here)
  } else if (type === 'Recreate' && recreates(at)) {
    if (isSet(rollingUpdate)) here.invalid(goText(printRolling(rollingUpdate)), "only allowed for updateStrategy 'RollingUpdate'")
  } else {
    const text = goStruct('apps.StatefulSetUpdateStrategy', {
      Type: goQuote(type),
      RollingUpdate: goPointer(rollingUpdate, 'apps.RollingUpdateStatefulSetStrategy'),
    })
    at.invalid(
      goText(text),
      recreates(at) ? "must be 'RollingUpdate', 'OnDelete', or 'Recreate'" : "must be 'RollingUpdate' or 'OnDelete'",
    )
  }
}

function recreates({ errors }: FieldPath): boolean {
  return gateEnabled('StatefulSetRecreateStrategy', errors.context.features)
}

function printRolling({ partition, maxUnavailable }: R<RollingUpdateStatefulSetStrategy>): string {
  return goStruct('apps.RollingUpdateStatefulSetStrategy', {
    Partition: String(partition ?? 0),
    MaxUnavailable: isSet(maxUnavailable) ? `&${goNumberOrText(maxUnavailable).text}` : '(*intstr.IntOrString)(nil)',
  })
}

function validateRollingUpdate({ partition, maxUnavailable }: R<RollingUpdateStatefulSetStrategy>, at: FieldPath): void {
  validateNotNegative(partition, at.child('partition'))
  if (!isSet(maxUnavailable)) return
  const here = at.child('maxUnavailable')
  validateIntOrPercent(maxUnavailable, here)
  if (numberOrPercent(maxUnavailable) === 0) here.invalid(goNumberOrText(maxUnavailable), 'cannot be 0')
  validateAtMostAll(maxUnavailable, here)
}

const retentions = ['Retain', 'Delete']

function validateRetention(policy: R<StatefulSetSpec>['persistentVolumeClaimRetentionPolicy'], at: FieldPath): void {
  if (!isSet(policy)) return
  for (const name of ['whenDeleted', 'whenScaled'] as const) {
    const value = policy[name] ?? ''
    if (!retentions.includes(value)) at.child(name).notSupported(value, retentions)
  }
}

/** Mutable members of the specification. */
const mutable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const

function* validateStatefulSetUpdate(
  set: DeepReadonly<StatefulSet>,
  old: DeepReadonly<StatefulSet>,
  errors: ContextErrorList,
): Work {
  if (errors.context.features.release.atLeast('1.37')) {
    yield* validateFrozen(set.spec ?? emptyWorkloadSpec(), old.spec ?? emptyWorkloadSpec(), errors.child('spec'))
    return
  }
  if (yield* semanticEqual(withoutMutable(set), withoutMutable(old))) return
  const names = mutable.map((name) => `'${name}'`)
  const list = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
  errors.child('spec').forbidden(`updates to statefulset spec for fields other than ${list} are forbidden`)
}

const frozen = ['selector', 'volumeClaimTemplates', 'serviceName', 'podManagementPolicy'] as const

/** Since 1.37 each immutable member has its own error. */
function* validateFrozen(spec: R<StatefulSetSpec>, old: R<StatefulSetSpec>, at: FieldPath): Work {
  for (const name of frozen) {
    const value = spec[name] ?? (name === 'volumeClaimTemplates' ? [] : null)
    if (!(yield* semanticEqual(spec[name], old[name]))) at.child(name).invalid(value, 'field is immutable')
  }
}

function withoutMutable(set: DeepReadonly<StatefulSet>): object {
  const spec: Record<string, unknown> = { ...set.spec }
  for (const name of mutable) delete spec[name]
  return spec
}

function validateStatus(status: R<StatefulSetStatus>, at: FieldPath): void {
  const { replicas = 0, readyReplicas = 0, currentReplicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status
  const counts = { replicas, readyReplicas, currentReplicas, updatedReplicas, availableReplicas }
  for (const [name, count] of Object.entries(counts)) validateNotNegative(count, at.child(name))
  validateNotNegative(status.observedGeneration, at.child('observedGeneration'))
  validateNotNegative(status.collisionCount, at.child('collisionCount'))
  for (const [name, count] of Object.entries(counts)) {
    if (count > replicas) at.child(name).invalid(count, 'cannot be greater than status.replicas')
  }
  if (availableReplicas > readyReplicas)
    at.child('availableReplicas').invalid(availableReplicas, 'cannot be greater than status.readyReplicas')
}

/** Whether a stored set has errors, which an update then does not report of its template. */
function* hasErrors(old: DeepReadonly<StatefulSet>, { context }: ContextErrorList): Work<boolean> {
  const found = yield* validateWith(context, (errors) => validateSpec(old, errors, { isNew: false }))
  return found.length > 0
}

const table: readonly GatedFields[] = [
  { gate: 'StatefulSetAutoDeletePVC', paths: ['spec.persistentVolumeClaimRetentionPolicy'] },
  { gate: 'MaxUnavailableStatefulSet', paths: ['spec.updateStrategy.rollingUpdate.maxUnavailable'] },
  { gate: 'StatefulSetStartOrdinal', paths: ['spec.ordinals'] },
]

export const statefulSetStrategy = defineStrategy<StatefulSet>({
  distinctEmpties: podEmpties('spec', 'template', 'spec'),
  requiredMembers: { '': lunsOfPods('spec', 'template') },
  defaults,
  prepareForCreate(set, context) {
    set.status = { replicas: 0, availableReplicas: 0 }
    startGeneration(set)
    dropGatedFields(set, undefined, { table, features: context.features })
    dropDisabledTemplateFields(set.spec?.template, undefined, context.features)
  },
  *prepareForUpdate(set, old, context) {
    yield* keepMembers(set, old, 'status')
    dropGatedFields(set, old, { table, features: context.features })
    dropDisabledTemplateFields(set.spec?.template, old.spec?.template, context.features)
    yield* raiseGeneration(set, old, 'spec')
  },
  validate: creationRules(function* (errors, set) {
    yield* validateMetadata(set, errors, { namespaced: true, name: nameRules.dns1123Label })
    yield* validateSpec(set, errors, { isNew: true })
  }),
  validateUpdate: updateRules(function* (errors, set, old) {
    yield* validateMetadataUpdate(set, old, errors)
    const isLater = errors.context.features.release.atLeast('1.34')
    const rules = { isNew: false, skipsTemplate: isLater && (yield* hasErrors(old, errors)) }
    yield* validateSpec(set, errors, rules)
    yield* validateStatefulSetUpdate(set, old, errors)
  }),
  warnings(set, old, { profile, features }) {
    const texts = podTemplateWarnings(set, old, { template: set.spec?.template, at: 'spec.template', profile, features })
    for (const [i, claim] of (set.spec?.volumeClaimTemplates ?? []).entries()) {
      // kube-apiserver names the member so.
      warnStorage(texts, claim.spec?.resources, `spec.volumeClaimTemplates[${i}]${old === undefined ? '' : '.Spec'}.resources`)
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
      prepareForUpdate: (set, old) => keepMembers(set, old, 'spec'),
      validateUpdate: updateRules(function* (errors, set, old) {
        validateStatus(set.status ?? { replicas: 0 }, errors.child('status'))
        yield* validateMetadataUpdate(set, old, errors)
        const at = errors.child('status').child('collisionCount')
        validateNotDecremented(set.status?.collisionCount, old.status?.collisionCount, at)
      }),
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
