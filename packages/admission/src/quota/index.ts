/** The usage of objects in resource quotas; shared by the ResourceQuota plugin and the quota controller. */
export { createUsageEvaluators, type UsageEvaluators } from './evaluators.ts'
export {
  matchesQuota,
  type QuotaObject,
  type ResourceQuota,
  type ScopeRequirement,
  type UsageEvaluator,
} from './interfaces.ts'
export { addUsage, equalUsage, formatUsage, maskUsage, parseUsage, subtractUsage, type Usage } from './usage.ts'
