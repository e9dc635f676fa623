export { AdmissionError, type AdmissionErrorCode } from './admission-error.ts'
export { type AdmissionRequest, type AdmissionResult, type AdmitOptions, admit } from './admit.ts'
export { builtInPlugins, type PluginDefinition } from './built-in-plugins.ts'
export { type AdmissionChain, createAdmissionChain } from './chain.ts'
export { changesBetween } from './changes.ts'
export { type AdmissionConfiguration, parseAdmissionConfiguration } from './configuration.ts'
export { type AdmissionPluginOptions, createAdmissionPlugins, defaultAdmissionPlugins } from './create-plugins.ts'
export {
  type AdmissionEnvironment,
  type AdmissionEnvironmentOptions,
  createAdmissionEnvironment,
  type PostJson,
} from './environment.ts'
export { type ImagePolicyConfiguration, parseImagePolicyConfiguration } from './image-policy/configuration.ts'
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
  ObjectConvertor,
  ObjectReader,
  ObjectVersion,
  ObjectWriter,
  ReinvocationContext,
  RequestBounds,
  Reservation,
  ServedKind,
  ValidationResult,
} from './interfaces.ts'
export { pluginUser } from './interfaces.ts'
export { ObjectSet } from './object-set.ts'
export { alwaysAdmit, alwaysDeny } from './plugins/always.ts'
export { alwaysPullImages } from './plugins/always-pull-images.ts'
export {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
  type SignerPluginOptions,
} from './plugins/certificates.ts'
export { defaultIngressClass } from './plugins/default-ingress-class.ts'
export { defaultStorageClass } from './plugins/default-storage-class.ts'
export { defaultTolerationSeconds, type TolerationSeconds } from './plugins/default-toleration-seconds.ts'
export { denyServiceExternalIPs } from './plugins/deny-service-external-ips.ts'
export { extendedResourceToleration } from './plugins/extended-resource-toleration.ts'
export { type ImagePolicyOptions, imagePolicyWebhook } from './plugins/image-policy-webhook.ts'
export { limitPodHardAntiAffinityTopology } from './plugins/limit-pod-hard-anti-affinity-topology.ts'
export { limitRanger } from './plugins/limit-ranger.ts'
export { namespaceAutoProvision } from './plugins/namespace-auto-provision.ts'
export { namespaceExists } from './plugins/namespace-exists.ts'
export { namespaceLifecycle } from './plugins/namespace-lifecycle.ts'
export { type NodeRestrictionOptions, nodeRestriction } from './plugins/node-restriction.ts'
export { ownerReferencesPermissionEnforcement } from './plugins/owner-references.ts'
export { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.ts'
export { podNodeSelector } from './plugins/pod-node-selector.ts'
export { type PodSecurityOptions, podSecurity } from './plugins/pod-security.ts'
export { type ClusterTolerations, podTolerationRestriction } from './plugins/pod-toleration-restriction.ts'
export { priority } from './plugins/priority.ts'
export { type ResourceQuotaOptions, resourceQuota } from './plugins/resource-quota.ts'
export { runtimeClass } from './plugins/runtime-class.ts'
export { type ServiceAccountOptions, serviceAccount } from './plugins/service-account.ts'
export { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.ts'
export { taintNodesByCondition } from './plugins/taint-nodes-by-condition.ts'
export { type PodSecurityConfiguration, parsePodSecurityConfiguration } from './pod-security/configuration.ts'
export { celMatchConditions } from './policy/match-conditions.ts'
export { checkPolicyTypes, type ExpressionWarning, type PolicyTypeResolver, type ServedType } from './policy/type-check.ts'
export { validatingPolicies } from './policy/validating-policies.ts'
export { type LimitedResource, parseLimitedResources } from './quota/limited.ts'
export { type Endpoint, type EndpointConfig, type PostOptions, WebhookClient } from './webhook/client.ts'
export { createCredentialsResolver, type KubeconfigUsers } from './webhook/credentials.ts'
export type { ClientConfig } from './webhook/hook.ts'
export type * from './webhook/interfaces.ts'
export { mutatingWebhooks } from './webhook/mutating.ts'
export type { WebhookEnvironment, WebhookOptions } from './webhook/options.ts'
export { createClusterServiceResolver } from './webhook/service-resolver.ts'
export { validatingWebhooks } from './webhook/validating.ts'
export { WebhookError } from './webhook/webhook-error.ts'
