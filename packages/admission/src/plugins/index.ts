/** The built-in admission plugins, one factory for each, for chains that are composed by hand. */
export type { TolerationSeconds } from '../environment.ts'
export { type ImagePolicyConfiguration, parseImagePolicyConfiguration } from '../image-policy/configuration.ts'
export { type PodSecurityConfiguration, parsePodSecurityConfiguration } from '../pod-security/configuration.ts'
export { type LimitedResource, parseLimitedResources } from '../quota/limited.ts'
export { alwaysAdmit, alwaysDeny } from './always.ts'
export { alwaysPullImages } from './always-pull-images.ts'
export {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
  type SignerPluginOptions,
} from './certificates.ts'
export { defaultIngressClass } from './default-ingress-class.ts'
export { defaultStorageClass } from './default-storage-class.ts'
export { defaultTolerationSeconds } from './default-toleration-seconds.ts'
export { denyServiceExternalIPs } from './deny-service-external-ips.ts'
export { extendedResourceToleration } from './extended-resource-toleration.ts'
export { type ImagePolicyOptions, imagePolicyWebhook } from './image-policy-webhook.ts'
export { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.ts'
export { limitRanger } from './limit-ranger.ts'
export { namespaceAutoProvision } from './namespace-auto-provision.ts'
export { namespaceExists } from './namespace-exists.ts'
export { namespaceLifecycle } from './namespace-lifecycle.ts'
export { type NodeRestrictionOptions, nodeRestriction } from './node-restriction.ts'
export { ownerReferencesPermissionEnforcement } from './owner-references.ts'
export { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts'
export { podNodeSelector } from './pod-node-selector.ts'
export { type PodSecurityOptions, podSecurity } from './pod-security.ts'
export { type PodSecurityPolicyOptions, podSecurityPolicy } from './pod-security-policy.ts'
export { type ClusterTolerations, podTolerationRestriction } from './pod-toleration-restriction.ts'
export { podTopologyLabels } from './pod-topology-labels.ts'
export { priority } from './priority.ts'
export { type ResourceQuotaOptions, resourceQuota } from './resource-quota.ts'
export { runtimeClass } from './runtime-class.ts'
export { type DefaultAccountWait, type ServiceAccountOptions, serviceAccount } from './service-account.ts'
export { storageObjectInUseProtection } from './storage-object-in-use-protection.ts'
export { taintNodesByCondition } from './taint-nodes-by-condition.ts'
