/** The usage of objects in resource quotas; shared by the ResourceQuota plugin and the quota controller. */
export { createUsageEvaluators, objectCountName, type UsageEvaluators } from './evaluators.ts'
export {
  matchesQuota,
  type QuotaObject,
  type ResourceQuota,
  type ScopeRequirement,
  scopeRequirementsOf,
  type UsageEvaluator,
} from './interfaces.ts'
export { addUsage, equalUsage, formatUsage, maskUsage, parseUsage, subtractUsage, type Usage, withoutZeros } from './usage.ts'
