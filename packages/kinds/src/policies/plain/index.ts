import type { KindPolicy } from '../../interfaces.ts'
import {
  clusterTrustBundlePolicy,
  deviceClassPolicy,
  deviceTaintRulePolicy,
  leaseCandidatePolicy,
  mutatingAdmissionPolicyBindingPolicy,
  mutatingAdmissionPolicyPolicy,
  resourceClaimPolicy,
  resourceClaimTemplatePolicy,
  resourceSlicePolicy,
  storageVersionMigrationPolicy,
  storageVersionPolicy,
} from './plain-kinds.ts'

/** By `group/Kind`. */
export const plainPolicies: Readonly<Record<string, KindPolicy>> = {
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': mutatingAdmissionPolicyPolicy,
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': mutatingAdmissionPolicyBindingPolicy,
  'certificates.k8s.io/ClusterTrustBundle': clusterTrustBundlePolicy,
  'coordination.k8s.io/LeaseCandidate': leaseCandidatePolicy,
  'internal.apiserver.k8s.io/StorageVersion': storageVersionPolicy,
  'resource.k8s.io/DeviceClass': deviceClassPolicy,
  'resource.k8s.io/DeviceTaintRule': deviceTaintRulePolicy,
  'resource.k8s.io/ResourceClaim': resourceClaimPolicy,
  'resource.k8s.io/ResourceClaimTemplate': resourceClaimTemplatePolicy,
  'resource.k8s.io/ResourceSlice': resourceSlicePolicy,
  'storagemigration.k8s.io/StorageVersionMigration': storageVersionMigrationPolicy,
}
