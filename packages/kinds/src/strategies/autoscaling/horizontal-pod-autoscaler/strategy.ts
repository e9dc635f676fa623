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
import type { ContextErrorList } from '../../shared/field-path.ts'
import { keepMembers, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateNotNegative } from '../../shared/numbers.ts'
import { creationRules, defineStrategy, statusSubresource, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { validateBehavior } from './behavior.ts'
import { validateMetrics, validateTargetReference } from './metrics.ts'

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
  if (maxReplicas < 1) at.child('maxReplicas').invalid(maxReplicas, 'must be greater than 0')
  if (isSet(minReplicas) && maxReplicas < minReplicas) {
    at.child('maxReplicas').invalid(maxReplicas, 'must be greater than or equal to `minReplicas`')
  }
  validateTargetReference(spec.scaleTargetRef, at.child('scaleTargetRef'))
  validateMetrics(spec.metrics, at.child('metrics'), minReplicas)
  validateBehavior(spec.behavior, at.child('behavior'))
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
    if (!gateEnabled('HPAConfigurableTolerance', features)) dropDisabled(autoscaler, undefined)
  },
  *prepareForUpdate(autoscaler, old, { features }) {
    yield* keepMembers(autoscaler, old, 'status')
    if (!gateEnabled('HPAConfigurableTolerance', features)) dropDisabled(autoscaler, old)
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
    status: statusSubresource((autoscaler, errors) => {
      const at = errors.child('status')
      validateNotNegative(autoscaler.status?.currentReplicas, at.child('currentReplicas'))
      validateNotNegative(autoscaler.status?.desiredReplicas, at.child('desiredReplicas'))
    }),
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
