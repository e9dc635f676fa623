/** Scaling behavior of autoscalers. */
import type {
  HorizontalPodAutoscalerBehavior,
  HPAScalingPolicy,
  HPAScalingRules,
} from '../../../types/autoscaling-v2.generated.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { validateAmountNotNegative } from '../../shared/quantities.ts'
import { isSet, type R } from '../../shared/values.ts'

const maxWindowSeconds = 3600
const maxPeriodSeconds = 1800
const choices = ['Disabled', 'Max', 'Min']
const policyTypes = ['Percent', 'Pods']

export function validateBehavior(behavior: R<HorizontalPodAutoscalerBehavior> | undefined, at: FieldPath): void {
  if (isSet(behavior?.scaleUp)) validateRules(behavior.scaleUp, at.child('scaleUp'))
  if (isSet(behavior?.scaleDown)) validateRules(behavior.scaleDown, at.child('scaleDown'))
}

function validateRules(rules: R<HPAScalingRules>, at: FieldPath): void {
  const { stabilizationWindowSeconds: window, selectPolicy: choice, policies = [], tolerance } = rules
  const here = at.child('stabilizationWindowSeconds')
  if (isSet(window) && window < 0) here.invalid(window, 'must be greater than or equal to zero')
  if (isSet(window) && window > maxWindowSeconds) here.invalid(window, `must be less than or equal to ${maxWindowSeconds}`)
  if (isSet(choice) && !choices.includes(choice)) at.child('selectPolicy').notSupported(choice, choices)
  if (policies.length === 0) at.child('policies').required('must specify at least one Policy')
  for (const [i, policy] of policies.entries()) validatePolicy(policy, at.child('policies').index(i))
  if (isSet(tolerance)) validateAmountNotNegative(tolerance, at.child('tolerance'))
}

function validatePolicy({ type = '', value = 0, periodSeconds = 0 }: R<HPAScalingPolicy>, at: FieldPath): void {
  if (!policyTypes.includes(type)) at.child('type').notSupported(type, policyTypes)
  if (value <= 0) at.child('value').invalid(value, 'must be greater than zero')
  const period = at.child('periodSeconds')
  if (periodSeconds <= 0) period.invalid(periodSeconds, 'must be greater than zero')
  if (periodSeconds > maxPeriodSeconds) period.invalid(periodSeconds, `must be less than or equal to ${maxPeriodSeconds}`)
}
