/** DaemonSet. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly, NamingProfile } from '@krmkit/meta'
import { goQuote, goText } from '@krmkit/meta/go-text'
import type { DefaultsContext } from '../../../interfaces.ts'
import type {
  DaemonSet,
  DaemonSetSpec,
  DaemonSetStatus,
  DaemonSetUpdateStrategy,
  RollingUpdateDaemonSet,
} from '../../../types/apps-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { goNumberOrText, goPointer, goSelector, goStruct } from '../../shared/go-form.ts'
import { numberOrPercent, validateAtMostAll, validateIntOrPercent } from '../../shared/int-or-percent.ts'
import { isEmptySelector, validateSelector, validateSelectorMatch } from '../../shared/labels.ts'
import { keepMembers, raiseGeneration, startGeneration, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateNotNegative } from '../../shared/numbers.ts'
import { defaultPodTemplate } from '../../shared/pod-defaults.ts'
import { podEmpties } from '../../shared/pod-empties.ts'
import { dropDisabledTemplateFields } from '../../shared/pod-gates.ts'
import { validateAlwaysRunning, validatePodTemplate } from '../../shared/pod-template.ts'
import { podTemplateWarnings } from '../../shared/pod-warnings.ts'
import { lunsOfPods } from '../../shared/required-luns.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet, own, type R } from '../../shared/values.ts'
import { compileSelector, emptyWorkloadSpec, validateNotDecremented, validateSameSelector } from '../../shared/workloads.ts'

const historyLimit = 10

/** Counts the changes of the template; older clients see it as a member of the specification. */
const templateGenerationKey = 'deprecated.daemonset.template.generation'

function templateGeneration(set: DeepReadonly<DaemonSet>): number {
  const text = own(set.metadata.annotations, templateGenerationKey) ?? ''
  return /^-?[0-9]{1,15}$/.test(text) ? Number(text) : 0
}

function setTemplateGeneration({ metadata }: DaemonSet, value: number): void {
  const { annotations } = metadata
  // A copy of many annotations takes long, and those of a draft are not shared.
  if (annotations === undefined || Object.isFrozen(annotations)) {
    metadata.annotations = { ...annotations, [templateGenerationKey]: String(value) }
  } else annotations[templateGenerationKey] = String(value)
}

function defaults(set: DaemonSet, _version: string, _profile: NamingProfile, { features }: DefaultsContext = {}): void {
  set.spec ??= emptyWorkloadSpec()
  const { spec } = set
  spec.template ??= {}
  defaultPodTemplate(spec.template, features)
  spec.updateStrategy ??= {}
  const strategy = spec.updateStrategy
  if (isEmpty(strategy.type)) strategy.type = 'RollingUpdate'
  if (strategy.type === 'RollingUpdate') {
    strategy.rollingUpdate ??= {}
    strategy.rollingUpdate.maxUnavailable ??= 1
    strategy.rollingUpdate.maxSurge ??= 0
  } else if (isSet(strategy.rollingUpdate)) {
    // Inside of kube-apiserver both are numbers, whatever the strategy.
    strategy.rollingUpdate.maxUnavailable ??= 0
    strategy.rollingUpdate.maxSurge ??= 0
  }
  spec.revisionHistoryLimit ??= historyLimit
  if (own(set.metadata.annotations, templateGenerationKey) === undefined) setTemplateGeneration(set, 0)
}

function* validateSpec(set: DeepReadonly<DaemonSet>, errors: ContextErrorList): Work {
  const at = errors.child('spec')
  const spec: R<DaemonSetSpec> = set.spec ?? emptyWorkloadSpec()
  const template = spec.template ?? {}
  yield* validateSelector(spec.selector, at.child('selector'))
  // A large selector takes a step to compile, and one to match.
  yield true
  const selector = compileSelector(spec.selector)
  yield true
  if (selector !== undefined) yield* validateSelectorMatch(selector, template.metadata?.labels, at.child('template'))
  if (isSet(spec.selector) && isEmptySelector(spec.selector)) {
    at.child('selector').invalid(goSelector(spec.selector), 'empty selector is invalid for daemonset')
  }
  yield* validatePodTemplate(template, at.child('template'))
  validateAlwaysRunning(template, at.child('template'), 'DaemonSet')
  validateNotNegative(spec.minReadySeconds, at.child('minReadySeconds'))
  validateNotNegative(templateGeneration(set), at.child('templateGeneration'))
  validateStrategy(spec.updateStrategy ?? {}, at.child('updateStrategy'))
  validateNotNegative(spec.revisionHistoryLimit, at.child('revisionHistoryLimit'))
}

function validateStrategy({ type, rollingUpdate }: R<DaemonSetUpdateStrategy>, at: FieldPath): void {
  if (type === 'OnDelete') return
  if (type === 'RollingUpdate') {
    if (!isSet(rollingUpdate)) at.child('rollingUpdate').required()
    else validateRollingUpdate(rollingUpdate, at.child('rollingUpdate'))
    return
  }
  const text = goStruct('apps.DaemonSetUpdateStrategy', {
    Type: goQuote(type ?? ''),
    RollingUpdate: goPointer(rollingUpdate, 'apps.RollingUpdateDaemonSet'),
  })
  at.notSupported(goText(text), ['RollingUpdate', 'OnDelete'])
}

function validateRollingUpdate({ maxUnavailable, maxSurge }: R<RollingUpdateDaemonSet>, at: FieldPath): void {
  validateIntOrPercent(maxUnavailable, at.child('maxUnavailable'))
  validateIntOrPercent(maxSurge, at.child('maxSurge'))
  validateAtMostAll(maxUnavailable, at.child('maxUnavailable'))
  validateAtMostAll(maxSurge, at.child('maxSurge'))
  const unavailable = numberOrPercent(maxUnavailable) !== 0
  const surge = numberOrPercent(maxSurge) !== 0
  if (unavailable && surge)
    at.child('maxSurge').invalid(goNumberOrText(maxSurge), 'may not be set when maxUnavailable is non-zero')
  else if (!unavailable && !surge) at.child('maxUnavailable').required('cannot be 0 when maxSurge is 0')
}

const counts = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
] as const satisfies readonly (keyof DaemonSetStatus)[]

export const daemonSetStrategy = defineStrategy<DaemonSet>({
  distinctEmpties: podEmpties('spec', 'template', 'spec'),
  fieldAnnotations: () => [templateGenerationKey],
  requiredMembers: { '': lunsOfPods('spec', 'template') },
  defaults,
  prepareForCreate(set, context) {
    set.status = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 }
    startGeneration(set)
    if (templateGeneration(set) < 1) setTemplateGeneration(set, 1)
    dropDisabledTemplateFields(set.spec?.template, undefined, context.features)
  },
  *prepareForUpdate(set, old, context) {
    yield* keepMembers(set, old, 'status')
    dropDisabledTemplateFields(set.spec?.template, old.spec?.template, context.features)
    const changed = !(yield* semanticEqual(set.spec?.template, old.spec?.template))
    setTemplateGeneration(set, templateGeneration(old) + (changed ? 1 : 0))
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
    if (old !== undefined && templateGeneration(old) === templateGeneration(set)) return []
    return podTemplateWarnings(set, old, { template: set.spec?.template, at: 'spec.template', profile, features })
  },
  subresources: {
    status: {
      *prepareForUpdate(set, old) {
        yield* keepMembers(set, old, 'spec')
        // The annotation is part of the specification, also in a write of metadata.
        setTemplateGeneration(set, templateGeneration(old))
      },
      validateUpdate: updateRules(function* (errors, set, old) {
        yield* validateMetadataUpdate(set, old, errors)
        const at = errors.child('status')
        for (const name of counts) validateNotNegative(set.status?.[name], at.child(name))
        validateNotDecremented(set.status?.collisionCount, old.status?.collisionCount, at.child('collisionCount'))
      }),
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
