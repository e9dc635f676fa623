/** What objects cost the quotas of their namespace: functions that the plugin and the controller of quotas share. */
export { countName, type Evaluators, usageEvaluators } from './evaluators.ts'
export {
  counts,
  type QuotaObject,
  type ResourceQuota,
  type ScopeRequirement,
  scopesOf,
  type UsageEvaluator,
} from './interfaces.ts'
export { formatUsage, minus, only, parseUsage, plus, sameUsage, type Usage, withoutZeros } from './usage.ts'
