export { AdmissionError, type AdmissionErrorCode } from './admission-error.ts'
export { type AdmissionRequest, type AdmissionResult, type AdmitOptions, admit } from './admit.ts'
export { builtInPlugins, type PluginDefinition } from './built-in-plugins.ts'
export { type AdmissionChain, createAdmissionChain } from './chain.ts'
export { type AdmissionConfiguration, type Parse, parseAdmissionConfiguration } from './configuration.ts'
export { type AdmissionPluginOptions, createAdmissionPlugins, defaultAdmissionPlugins } from './create-plugins.ts'
export type { AdmissionEnvironment, AdmissionEnvironmentOptions, PostJson } from './environment.ts'
export type {
  AdmissionAttributes,
  AdmissionContext,
  AdmissionDecision,
  AdmissionPlugin,
  AdmissionTarget,
  ConvertedObject,
  DecisionSink,
  MutationResult,
  ObjectChange,
  ObjectReader,
  ObjectVersion,
  ObjectWriter,
  ReinvocationContext,
  RequestBounds,
  Reservation,
  ServedKind,
  ValidationResult,
  VersionConverter,
} from './interfaces.ts'
export { pluginUser } from './interfaces.ts'
export { arrangeStaticObjects, type StaticObject } from './manifests/arrange.ts'
export { staticManifestsDir } from './manifests/configuration.ts'
export type { OpenStaticObjects, StaticObjects } from './manifests/static-objects.ts'
export type {
  AdmissionMetrics,
  AdmissionOutcome,
  PhaseLabels,
  PluginLabels,
  PodSecurityEvaluation,
  PodSecurityLabels,
  PodSecurityMetrics,
  PolicyCheckLabels,
  PolicyConditionLabels,
  PolicyMetrics,
  WebhookMetrics,
} from './metrics.ts'
export { ObjectSet } from './object-set.ts'
