export { apiPlanBreaches, elementBreaches, type RuleOptions } from './deprecation-rules.ts'
export { createFeatureGates, type FeatureGateOptions, parseFeatureGates } from './feature-gates.ts'
export type {
  ApiPlan,
  ApiVersionLife,
  Element,
  ElementLife,
  FeatureGates,
  GateLife,
  GateStage,
  GateState,
  ReleaseCalendar,
  RuleBreach,
  Stability,
} from './interfaces.ts'
export { isServedAt, type KindState, kindStateAt, planOfKind } from './kind-life.ts'
export { compareReleases, monthsBetween, releasesBetween } from './release.ts'
export { compareStability, stabilityOf } from './stability.ts'
export { VersioningError, type VersioningErrorCode } from './versioning-error.ts'
