/** Deployment. */
import { type DeepReadonly, labelSelectorFromObject } from '@krmkit/meta'
import { goQuote, goText } from '@krmkit/meta/go-text'
import { goIntOrString } from '@krmkit/meta/int-or-string'
import { validateLabelSelector } from '@krmkit/meta/selectors'
import type { Deployment, DeploymentSpec, DeploymentStrategy } from '../../../types/apps-v1.generated.ts'
import type { PodTemplateSpec } from '../../../types/core-v1.generated.ts'
import type { LabelSelector } from '../../../types/meta-v1.generated.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { percentOrNumber, validateAtMostAll, validateIntOrPercent } from '../../shared/int-or-percent.ts'
import { isEmptySelector, printSelector, validateSelector, validateSelectorMatch } from '../../shared/labels.ts'
import { keepMembers, raiseGeneration, startGeneration, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateNotNegative } from '../../shared/numbers.ts'
import { defaultPodTemplate } from '../../shared/pod-defaults.ts'
import { dropDisabledPodFields } from '../../shared/pod-gates.ts'
import { validateAlwaysRunning, validatePodTemplate } from '../../shared/pod-template.ts'
import { podTemplateWarnings } from '../../shared/pod-warnings.ts'
import { validateReplicaStatus } from '../../shared/replicas.ts'
import { lunsOfPods } from '../../shared/required-luns.ts'
import { defineStrategy, validateWith } from '../../shared/strategy.ts'
import { isEmpty, isSet, type R, semanticEqual } from '../../shared/values.ts'

const historyLimit = 10
const progressSeconds = 600
const quarter = '25%'

function defaults(deployment: Deployment): void {
  deployment.spec ??= {} as DeploymentSpec
  const { spec } = deployment
  spec.template ??= {}
  defaultPodTemplate(spec.template)
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
    const printed = goText(
      `apps.DeploymentStrategy{Type:${goQuote(strategy.type ?? '')}, RollingUpdate:(*apps.RollingUpdateDeployment)(nil)}`,
    )
    at.notSupported(printed, ['Recreate', 'RollingUpdate'])
    return
  }
  if (!isSet(rolling)) {
    here.required('this should be defaulted and never be nil')
    return
  }
  const { maxUnavailable = 0, maxSurge = 0 } = rolling
  validateIntOrPercent(maxUnavailable, here.child('maxUnavailable'))
  validateIntOrPercent(maxSurge, here.child('maxSurge'))
  if ((percentOrNumber(maxUnavailable) ?? 0) === 0 && (percentOrNumber(maxSurge) ?? 0) === 0) {
    here.child('maxUnavailable').invalid(goIntOrString(maxUnavailable), 'may not be 0 when `maxSurge` is 0')
  }
  validateAtMostAll(maxUnavailable, here.child('maxUnavailable'))
}

function validateSpec(spec: R<DeploymentSpec>, at: FieldPath): void {
  validateNotNegative(spec.replicas, at.child('replicas'))
  const { selector } = spec
  if (!isSet(selector)) at.child('selector').required()
  else {
    validateSelector(selector, at.child('selector'))
    if (isEmptySelector(selector))
      at.child('selector').invalid(printSelector(selector), 'empty selector is invalid for deployment')
  }
  validateSelectedTemplate(spec.template, at.child('template'), selector)
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

function validateStatus(deployment: DeepReadonly<Deployment>, old: DeepReadonly<Deployment>, errors: ContextErrorList): void {
  const status = deployment.status ?? {}
  const at = errors.child('status')
  validateReplicaStatus(status, at)
  validateNotNegative(status.updatedReplicas, at.child('updatedReplicas'))
  validateNotNegative(status.collisionCount, at.child('collisionCount'))
  const { replicas = 0, updatedReplicas = 0 } = status
  if (updatedReplicas > replicas) at.child('updatedReplicas').invalid(updatedReplicas, 'cannot be greater than status.replicas')
  const before = old.status?.collisionCount
  if (isSet(before) && (status.collisionCount ?? 0) < before) {
    at.child('collisionCount').invalid(status.collisionCount ?? 0, 'cannot be decremented')
  }
}

export const deploymentStrategy = defineStrategy<Deployment>({
  requiredMembers: { '': lunsOfPods('spec', 'template') },
  defaults,
  prepareForCreate(deployment, { features }) {
    deployment.status = {}
    startGeneration(deployment)
    const spec = deployment.spec?.template?.spec
    if (isSet(spec)) dropDisabledPodFields(spec, undefined, features)
  },
  prepareForUpdate(deployment, old, { features }) {
    keepMembers(deployment, old, 'status')
    const spec = deployment.spec?.template?.spec
    if (isSet(spec)) dropDisabledPodFields(spec, old.spec?.template?.spec, features)
    raiseGeneration(deployment, old, 'spec')
    // Replica sets inherit annotations, so a change of them must raise the generation.
    if (!semanticEqual(deployment.metadata.annotations ?? {}, old.metadata.annotations ?? {})) {
      deployment.metadata.generation = (old.metadata.generation ?? 0) + 1
    }
  },
  validate(deployment, context) {
    return validateWith(context, (errors) => {
      validateMetadata(deployment, errors, { namespaced: true })
      validateSpec(specOf(deployment), errors.child('spec'))
    })
  },
  validateUpdate(deployment, old, context) {
    return validateWith(context, (errors) => {
      validateMetadataUpdate(deployment, old, errors)
      validateSpec(specOf(deployment), errors.child('spec'))
      const { selector } = specOf(deployment)
      if (!semanticEqual(selector, specOf(old).selector)) {
        errors
          .child('spec')
          .child('selector')
          .invalid(isSet(selector) ? printSelector(selector) : null, 'field is immutable')
      }
    })
  },
  warnings(deployment, old, { profile }) {
    return podTemplateWarnings(deployment, old, { template: deployment.spec?.template, at: 'spec.template', profile })
  },
  scale: {
    specReplicas: ['spec', 'replicas'],
    statusReplicas: ['status', 'replicas'],
    selector: (deployment) => labelSelectorFromObject(specOf(deployment).selector).toString(),
  },
  subresources: {
    status: {
      prepareForUpdate(deployment, old) {
        keepMembers(deployment, old, 'spec')
        if (isSet(old.metadata.labels)) deployment.metadata.labels = { ...old.metadata.labels }
        else delete deployment.metadata.labels
      },
      validateUpdate(deployment, old, context) {
        return validateWith(context, (errors) => {
          validateMetadataUpdate(deployment, old, errors)
          validateStatus(deployment, old, errors)
        })
      },
    },
  },
  resetFields: { '': [['status']], status: [['spec'], ['metadata', 'labels']] },
})

/**
 * Validates the template and that the selector matches its labels. An absent selector matches nothing; a malformed one is
 * reported elsewhere.
 */
function validateSelectedTemplate(
  template: R<PodTemplateSpec> | undefined,
  at: FieldPath,
  selector: R<LabelSelector> | null | undefined,
): void {
  const malformed = isSet(selector) && validateLabelSelector(selector, at.path()).length > 0
  const everything = isSet(selector) && isEmptySelector(selector)
  if (!malformed && !everything) validateSelectorMatch(labelSelectorFromObject(selector), template?.metadata?.labels, at)
  validatePodTemplate(template, at)
  validateAlwaysRunning(template ?? {}, at, 'ReplicaSet')
}
