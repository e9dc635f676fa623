export { builtInFeatureGates } from '@krmkit/meta/feature-gates'
export { type DeprecationRuleOptions, validateApiPlan, validateElementLifecycle } from './deprecation-rules.ts'
export { createFeatureGates, type FeatureGateOptions, parseFeatureGates } from './feature-gates.ts'
export type {
  ApiPlan,
  ApiVersionLifecycle,
  DeprecatableElement,
  ElementLifecycle,
  FeatureGateDependency,
  FeatureGateLifecycle,
  FeatureGateStage,
  FeatureGateState,
  FeatureGates,
  ReleaseCalendar,
  RuleViolation,
  Stability,
} from './interfaces.ts'
export { isServedAt, type KindState, kindApiPlan, kindStateAt } from './kind-lifecycle.ts'
export {
  type ConversionProblem,
  type ConvertedManifest,
  type ConvertedManifestObject,
  type ConvertManifestOptions,
  convertManifest,
} from './manifests/convert-manifest.ts'
export {
  type DeprecationFinding,
  type DeprecationRule,
  deprecationRules,
  type FindDeprecationsOptions,
  findDeprecations,
} from './manifests/find-deprecations.ts'
export type { ManifestObjectName } from './manifests/objects.ts'
export { type PodSecurityLevel, podSecurityLevel } from './manifests/pod-security.ts'
export { compareReleases, monthsBetween, releasesBetween } from './release.ts'
export { compareKubeAwareVersions, isUnserved, newestRelease, removalOf, replacementAt } from './replacements.ts'
export { compareStability, stabilityOf } from './stability.ts'
export { VersioningError, type VersioningErrorCode } from './versioning-error.ts'
