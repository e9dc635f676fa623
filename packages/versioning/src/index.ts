export { type DeprecationRuleOptions, validateApiPlan, validateElementLifecycle } from './deprecation-rules.ts'
export { builtInFeatureGates } from './feature-gate-registry.ts'
export { createFeatureGates, type FeatureGateOptions, parseFeatureGates } from './feature-gates.ts'
export type {
  ApiPlan,
  ApiVersionLifecycle,
  DeprecatableElement,
  ElementLifecycle,
  FeatureGateLifecycle,
  FeatureGateStage,
  FeatureGateState,
  FeatureGates,
  ReleaseCalendar,
  RuleViolation,
  Stability,
} from './interfaces.ts'
export { isServedAt, type KindState, kindApiPlan, kindStateAt } from './kind-lifecycle.ts'
export { compareReleases, monthsBetween, releasesBetween } from './release.ts'
export { compareStability, stabilityOf } from './stability.ts'
export { VersioningError, type VersioningErrorCode } from './versioning-error.ts'
