/** Deployment. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly, NamingProfile } from '@krmkit/meta'
import { goQuote, goText } from '@krmkit/meta/go-text'
import { goIntOrString } from '@krmkit/meta/int-or-string'
import { labelSelectorFromObject } from '@krmkit/meta/selectors'
import type { DefaultsContext } from '../../../interfaces.ts'
import type { Deployment, DeploymentSpec, DeploymentStrategy } from '../../../types/apps-v1.generated.ts'
import { copy } from '../../shared/copies.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { goPointer, goStruct } from '../../shared/go-form.ts'
import { numberOrPercent, validateAtMostAll, validateIntOrPercent } from '../../shared/int-or-percent.ts'
import { isEmptySelector, printSelector, validateSelector } from '../../shared/labels.ts'
import { keepMembers, raiseGeneration, startGeneration, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateNotNegative } from '../../shared/numbers.ts'
import { defaultPodTemplate } from '../../shared/pod-defaults.ts'
import { podEmpties } from '../../shared/pod-empties.ts'
import { dropDisabledPodFields } from '../../shared/pod-gates.ts'
import { podTemplateWarnings } from '../../shared/pod-warnings.ts'
import { dropTerminatingReplicas } from '../../shared/replicas.ts'
import { lunsOfPods } from '../../shared/required-luns.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { warnPodNames } from '../../shared/workloads.ts'
import { validateReplicaTemplate } from '../replica-set/template.ts'

const historyLimit = 10
const progressSeconds = 600
const quarter = '25%'

function defaults(deployment: Deployment, _version: string, _profile: NamingProfile, { features }: DefaultsContext = {}): void {
  deployment.spec ??= {} as DeploymentSpec
  const { spec } = deployment
  spec.template ??= {}
  defaultPodTemplate(spec.template, features)
  spec.replicas ??= 1
  spec.strategy ??= {}
  if (isEmpty(spec.strategy.type)) spec.strategy.type = 'RollingUpdate'
  if (spec.strategy.type === 'RollingUpdate') {
    spec.strategy.rollingUpdate ??= {}
    spec.strategy.rollingUpdate.maxUnavailable ??= quarter
    spec.strategy.rollingUpdate.maxSurge ??= quarter
  }
  spec.revisionHistoryLimit ??= historyLimit
  spec.progressDeadlineSeconds ??= progressSeconds
}

function validateStrategy(strategy: R<DeploymentStrategy>, at: FieldPath): void {
  const rolling = strategy.rollingUpdate
  const here = at.child('rollingUpdate')
  if (strategy.type === 'Recreate') {
    if (isSet(rolling)) here.forbidden("may not be specified when strategy `type` is 'Recreate'")
    return
  }
  if (strategy.type !== 'RollingUpdate') {
    // kube-apiserver prints a pointer, whose own pointers show no content.
    const printed = goStruct('apps.DeploymentStrategy', {
      Type: goQuote(strategy.type ?? ''),
      RollingUpdate: goPointer(rolling, 'apps.RollingUpdateDeployment'),
    })
    at.notSupported(goText(printed), ['Recreate', 'RollingUpdate'])
    return
  }
  if (!isSet(rolling)) {
    here.required('this should be defaulted and never be nil')
    return
  }
  const { maxUnavailable = 0, maxSurge = 0 } = rolling
  validateIntOrPercent(maxUnavailable, here.child('maxUnavailable'))
  validateIntOrPercent(maxSurge, here.child('maxSurge'))
  if (numberOrPercent(maxUnavailable) === 0 && numberOrPercent(maxSurge) === 0) {
    here.child('maxUnavailable').invalid(goIntOrString(maxUnavailable), 'may not be 0 when `maxSurge` is 0')
  }
  validateAtMostAll(maxUnavailable, here.child('maxUnavailable'))
}

function* validateSpec(spec: R<DeploymentSpec>, at: FieldPath): Work {
  validateNotNegative(spec.replicas, at.child('replicas'))
  const { selector } = spec
  if (!isSet(selector)) at.child('selector').required()
  else {
    yield* validateSelector(selector, at.child('selector'))
    if (isEmptySelector(selector))
      at.child('selector').invalid(printSelector(selector), 'empty selector is invalid for deployment')
  }
  yield* validateReplicaTemplate({ selector, template: spec.template ?? {} }, at)
  validateStrategy(spec.strategy ?? {}, at.child('strategy'))
  validateNotNegative(spec.minReadySeconds, at.child('minReadySeconds'))
  validateNotNegative(spec.revisionHistoryLimit, at.child('revisionHistoryLimit'))
  const deadline = spec.progressDeadlineSeconds
  if (!isSet(deadline)) return
  validateNotNegative(deadline, at.child('progressDeadlineSeconds'))
  if (deadline <= (spec.minReadySeconds ?? 0)) {
    at.child('progressDeadlineSeconds').invalid(deadline, 'must be greater than minReadySeconds')
  }
}

const specOf = (deployment: DeepReadonly<Deployment>): R<DeploymentSpec> => deployment.spec ?? ({} as R<DeploymentSpec>)

const statusCounts = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'terminatingReplicas',
  'collisionCount',
] as const

function validateStatus(deployment: DeepReadonly<Deployment>, old: DeepReadonly<Deployment>, errors: ContextErrorList): void {
  const status = deployment.status ?? {}
  const at = errors.child('status')
  for (const name of statusCounts) validateNotNegative(status[name], at.child(name))
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0, availableReplicas = 0 } = status
  for (const [name, count] of Object.entries({ updatedReplicas, readyReplicas, availableReplicas }))
    if (count > replicas) at.child(name).invalid(count, 'cannot be greater than status.replicas')
  if (availableReplicas > readyReplicas)
    at.child('availableReplicas').invalid(availableReplicas, 'cannot be greater than readyReplicas')
  const before = old.status?.collisionCount
  if (isSet(before) && (!isSet(status.collisionCount) || status.collisionCount < before)) {
    at.child('collisionCount').invalid(status.collisionCount ?? 0, 'cannot be decremented')
  }
}

export const deploymentStrategy = defineStrategy<Deployment>({
  distinctEmpties: podEmpties('spec', 'template', 'spec'),
  fieldAnnotations: () => ['deprecated.deployment.rollback.to'],
  requiredMembers: { '': lunsOfPods('spec', 'template') },
  defaults,
  prepareForCreate(deployment, { features }) {
    deployment.status = {}
    startGeneration(deployment)
    const spec = deployment.spec?.template?.spec
    if (isSet(spec)) dropDisabledPodFields(spec, undefined, features)
  },
  *prepareForUpdate(deployment, old, { features }) {
    yield* keepMembers(deployment, old, 'status')
    const spec = deployment.spec?.template?.spec
    if (isSet(spec)) dropDisabledPodFields(spec, old.spec?.template?.spec, features)
    yield* raiseGeneration(deployment, old, 'spec')
    // Replica sets inherit annotations, so a change of them must raise the generation.
    if (!(yield* semanticEqual(deployment.metadata.annotations ?? {}, old.metadata.annotations ?? {}))) {
      deployment.metadata.generation = (old.metadata.generation ?? 0) + 1
    }
  },
  validate: creationRules(function* (errors, deployment) {
    yield* validateMetadata(deployment, errors, { namespaced: true })
    yield* validateSpec(specOf(deployment), errors.child('spec'))
  }),
  validateUpdate: updateRules(function* (errors, deployment, old) {
    yield* validateMetadataUpdate(deployment, old, errors)
    yield* validateSpec(specOf(deployment), errors.child('spec'))
    const { selector } = specOf(deployment)
    if (!(yield* semanticEqual(selector, specOf(old).selector))) {
      errors
        .child('spec')
        .child('selector')
        .invalid(isSet(selector) ? printSelector(selector) : null, 'field is immutable')
    }
  }),
  warnings(deployment, old, { profile, features }) {
    const names = old === undefined ? warnPodNames(deployment) : []
    const texts = podTemplateWarnings(deployment, old, {
      template: deployment.spec?.template,
      at: 'spec.template',
      profile,
      features,
    })
    return [...names, ...texts]
  },
  scale: {
    specReplicas: ['spec', 'replicas'],
    statusReplicas: ['status', 'replicas'],
    selector: (deployment) => labelSelectorFromObject(specOf(deployment).selector).toString(),
  },
  subresources: {
    status: {
      *prepareForUpdate(deployment, old, { features }) {
        yield* keepMembers(deployment, old, 'spec')
        dropTerminatingReplicas(deployment.status, old.status, features)
        if (isSet(old.metadata.labels)) deployment.metadata.labels = yield* copy(old.metadata.labels)
        else delete deployment.metadata.labels
      },
      validateUpdate: updateRules(function* (errors, deployment, old) {
        yield* validateMetadataUpdate(deployment, old, errors)
        validateStatus(deployment, old, errors)
      }),
    },
  },
  resetFields: { '': [['status']], status: [['spec'], ['metadata', 'labels']] },
})
