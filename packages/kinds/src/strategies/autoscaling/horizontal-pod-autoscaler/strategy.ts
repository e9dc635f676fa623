/** HorizontalPodAutoscaler. */

import type { DeepReadonly } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { copyJson } from '@krmkit/schema/json'
import { autoscalerAnnotations } from '../../../conversions/autoscaling.ts'
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HPAScalingRules,
} from '../../../types/autoscaling-v2.generated.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { keepMembers, raiseGeneration, startGeneration, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateNotNegative } from '../../shared/numbers.ts'
import { creationRules, defineStrategy, statusSubresource, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { validateBehavior } from './behavior.ts'
import { metricsRule, targetRule, validateMetrics, validateTargetReference } from './metrics.ts'

const utilization = 80

const scaleUp: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
}
const scaleDown: HPAScalingRules = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] }

function fillRules(rules: HPAScalingRules | undefined, fallback: HPAScalingRules): HPAScalingRules {
  const filled: HPAScalingRules = { ...copyJson(fallback), ...rules }
  if (!isSet(rules?.policies)) filled.policies = copyJson(fallback.policies ?? [])
  return filled
}

/** Objects of `v1` get their metrics by conversion. */
function defaults(autoscaler: HorizontalPodAutoscaler): void {
  autoscaler.spec ??= { scaleTargetRef: { kind: '', name: '' }, maxReplicas: 0 }
  const { spec } = autoscaler
  spec.minReplicas ??= 1
  if (!String(autoscaler.apiVersion).endsWith('/v2')) return
  if (isEmpty(spec.metrics)) {
    const target = { type: 'Utilization', averageUtilization: utilization }
    spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }]
  }
  if (!isSet(spec.behavior)) return
  spec.behavior.scaleUp = fillRules(spec.behavior.scaleUp, scaleUp)
  spec.behavior.scaleDown = fillRules(spec.behavior.scaleDown, scaleDown)
}

function validateSpec(
  autoscaler: DeepReadonly<HorizontalPodAutoscaler>,
  old: DeepReadonly<HorizontalPodAutoscaler> | undefined,
  errors: ContextErrorList,
): void {
  const at = errors.child('spec')
  const spec: R<HorizontalPodAutoscalerSpec> = autoscaler.spec ?? { scaleTargetRef: { kind: '', name: '' }, maxReplicas: 0 }
  const { minReplicas, maxReplicas = 0 } = spec
  const toZero = old?.spec?.minReplicas === 0 || gateEnabled('HPAScaleToZero', errors.context.features)
  const lowest = toZero ? 0 : 1
  if (isSet(minReplicas) && minReplicas < lowest) {
    at.child('minReplicas').invalid(minReplicas, `must be greater than or equal to ${lowest}`)
  }
  validateMaxReplicas(maxReplicas, at.child('maxReplicas'))
  if (isSet(minReplicas) && maxReplicas < minReplicas) {
    at.child('maxReplicas').invalid(maxReplicas, 'must be greater than or equal to `minReplicas`')
  }
  const { features } = errors.context
  const target = targetRule(spec.scaleTargetRef, old?.spec?.scaleTargetRef, features)
  validateTargetReference(spec.scaleTargetRef, at.child('scaleTargetRef'), target)
  validateMetrics(spec.metrics, at.child('metrics'), { minReplicas, rule: metricsRule(old?.spec?.metrics, features) })
  validateBehavior(spec.behavior, at.child('behavior'))
}

function validateMaxReplicas(count: number, at: FieldPath): void {
  if (count > 0) return
  if (!at.errors.context.features.release.atLeast('1.36')) at.invalid(count, 'must be greater than 0')
  else if (count === 0) at.required('must be set and greater than 0')
  else at.invalid(count, 'must be greater than or equal to 1')
}

interface ConditionStatus {
  readonly conditions?: readonly { readonly observedGeneration?: number }[] | null
}

function validateStatus(autoscaler: DeepReadonly<HorizontalPodAutoscaler>, errors: ContextErrorList): void {
  const at = errors.child('status')
  const { conditions } = (autoscaler.status ?? {}) as ConditionStatus
  for (const [i, { observedGeneration }] of (conditions ?? []).entries())
    validateNotNegative(observedGeneration, at.child('conditions').index(i).child('observedGeneration'))
  validateNotNegative(autoscaler.status?.currentReplicas, at.child('currentReplicas'))
  validateNotNegative(autoscaler.status?.desiredReplicas, at.child('desiredReplicas'))
}

/** Drops `tolerance`, whose feature gate is off. */
function dropDisabled(autoscaler: HorizontalPodAutoscaler, old: DeepReadonly<HorizontalPodAutoscaler> | undefined): void {
  for (const direction of ['scaleUp', 'scaleDown'] as const) {
    if (!isSet(old?.spec?.behavior?.[direction]?.tolerance)) delete autoscaler.spec?.behavior?.[direction]?.tolerance
  }
}

export const horizontalPodAutoscalerStrategy = defineStrategy<HorizontalPodAutoscaler>({
  fieldAnnotations: autoscalerAnnotations,
  distinctEmpties: [
    ['spec', 'behavior', 'scaleUp', 'policies'],
    ['spec', 'behavior', 'scaleDown', 'policies'],
  ],
  defaults,
  prepareForCreate(autoscaler, { features }) {
    autoscaler.status = { desiredReplicas: 0 }
    if (gateEnabled('HPAGeneration', features)) startGeneration(autoscaler)
    if (!gateEnabled('HPAConfigurableTolerance', features)) dropDisabled(autoscaler, undefined)
  },
  *prepareForUpdate(autoscaler, old, { features }) {
    yield* keepMembers(autoscaler, old, 'status')
    if (!gateEnabled('HPAConfigurableTolerance', features)) dropDisabled(autoscaler, old)
    if (gateEnabled('HPAGeneration', features)) yield* raiseGeneration(autoscaler, old, 'spec')
  },
  validate: creationRules(function* (errors, autoscaler) {
    yield* validateMetadata(autoscaler, errors, { namespaced: true })
    validateSpec(autoscaler, undefined, errors)
  }),
  validateUpdate: updateRules(function* (errors, autoscaler, old) {
    yield* validateMetadataUpdate(autoscaler, old, errors)
    validateSpec(autoscaler, old, errors)
  }),
  subresources: {
    status: statusSubresource<HorizontalPodAutoscaler>(validateStatus),
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
