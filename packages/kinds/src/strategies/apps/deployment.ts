/** Deployments. */
import { type DeepReadonly, goIntOrString, goQuote, goText, labelSelectorFromObject } from '@krmkit/meta'
import type { Deployment, DeploymentSpec, DeploymentStrategy } from '../../types/apps-v1.generated.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { checkAtMostAll, checkIntOrPercent, percentOrNumber } from '../shared/int-or-percent.ts'
import { checkLabelSelector, checkSelectedTemplate, isEmptySelector, printSelector } from '../shared/labels.ts'
import { checkMetadata, checkMetadataUpdate, keepMembers, raiseGeneration, startGeneration } from '../shared/metadata.ts'
import { checkNotNegative } from '../shared/numbers.ts'
import { defaultPodTemplate } from '../shared/pod-defaults.ts'
import { dropDisabledPodFields } from '../shared/pod-gates.ts'
import { podTemplateWarnings } from '../shared/pod-warnings.ts'
import { checkReplicaStatus } from '../shared/replicas.ts'
import { lunsOfPods } from '../shared/required-luns.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isEmpty, isSet, type R, semanticEqual } from '../shared/values.ts'

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

function checkStrategy(strategy: R<DeploymentStrategy>, at: FieldPath): void {
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
  checkIntOrPercent(maxUnavailable, here.child('maxUnavailable'))
  checkIntOrPercent(maxSurge, here.child('maxSurge'))
  if ((percentOrNumber(maxUnavailable) ?? 0) === 0 && (percentOrNumber(maxSurge) ?? 0) === 0) {
    here.child('maxUnavailable').invalid(goIntOrString(maxUnavailable), 'may not be 0 when `maxSurge` is 0')
  }
  checkAtMostAll(maxUnavailable, here.child('maxUnavailable'))
}

function checkSpec(spec: R<DeploymentSpec>, at: FieldPath): void {
  checkNotNegative(spec.replicas, at.child('replicas'))
  const { selector } = spec
  if (!isSet(selector)) at.child('selector').required()
  else {
    checkLabelSelector(selector, at.child('selector'))
    if (isEmptySelector(selector))
      at.child('selector').invalid(printSelector(selector), 'empty selector is invalid for deployment')
  }
  checkSelectedTemplate(spec.template, at.child('template'), selector)
  checkStrategy(spec.strategy ?? {}, at.child('strategy'))
  checkNotNegative(spec.minReadySeconds, at.child('minReadySeconds'))
  checkNotNegative(spec.revisionHistoryLimit, at.child('revisionHistoryLimit'))
  const deadline = spec.progressDeadlineSeconds
  if (!isSet(deadline)) return
  checkNotNegative(deadline, at.child('progressDeadlineSeconds'))
  if (deadline <= (spec.minReadySeconds ?? 0)) {
    at.child('progressDeadlineSeconds').invalid(deadline, 'must be greater than minReadySeconds')
  }
}

const specOf = (deployment: DeepReadonly<Deployment>): R<DeploymentSpec> => deployment.spec ?? ({} as R<DeploymentSpec>)

function checkStatus(deployment: DeepReadonly<Deployment>, old: DeepReadonly<Deployment>, report: Report): void {
  const status = deployment.status ?? {}
  const at = report.at('status')
  checkReplicaStatus(status, at)
  checkNotNegative(status.updatedReplicas, at.child('updatedReplicas'))
  checkNotNegative(status.collisionCount, at.child('collisionCount'))
  const { replicas = 0, updatedReplicas = 0 } = status
  if (updatedReplicas > replicas) at.child('updatedReplicas').invalid(updatedReplicas, 'cannot be greater than status.replicas')
  const before = old.status?.collisionCount
  if (isSet(before) && (status.collisionCount ?? 0) < before) {
    at.child('collisionCount').invalid(status.collisionCount ?? 0, `cannot decrease, was ${before}`)
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
    // Annotations go on to replica sets, so that a controller has to see them change.
    if (!semanticEqual(deployment.metadata.annotations ?? {}, old.metadata.annotations ?? {})) {
      deployment.metadata.generation = (old.metadata.generation ?? 0) + 1
    }
  },
  validate(deployment, context) {
    return findings(context, (report) => {
      checkMetadata(deployment, report, { namespaced: true })
      checkSpec(specOf(deployment), report.at('spec'))
    })
  },
  validateUpdate(deployment, old, context) {
    return findings(context, (report) => {
      checkMetadataUpdate(deployment, old, report)
      checkSpec(specOf(deployment), report.at('spec'))
      const { selector } = specOf(deployment)
      if (!semanticEqual(selector, specOf(old).selector)) {
        report
          .at('spec')
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
        return findings(context, (report) => {
          checkMetadataUpdate(deployment, old, report)
          checkStatus(deployment, old, report)
        })
      },
    },
  },
  resetFields: { '': [['status']], status: [['spec'], ['metadata', 'labels']] },
})
