import type { Strategy } from '../../interfaces.ts'
import {
  clusterTrustBundleStrategy,
  deviceClassStrategy,
  deviceTaintRuleStrategy,
  leaseCandidateStrategy,
  mutatingAdmissionPolicyBindingStrategy,
  mutatingAdmissionPolicyStrategy,
  resourceClaimStrategy,
  resourceClaimTemplateStrategy,
  resourceSliceStrategy,
  storageVersionMigrationStrategy,
  storageVersionStrategy,
} from './plain-kinds.ts'

/** By `group/Kind`. */
export const plainStrategies: Readonly<Record<string, Strategy>> = {
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': mutatingAdmissionPolicyStrategy,
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': mutatingAdmissionPolicyBindingStrategy,
  'certificates.k8s.io/ClusterTrustBundle': clusterTrustBundleStrategy,
  'coordination.k8s.io/LeaseCandidate': leaseCandidateStrategy,
  'internal.apiserver.k8s.io/StorageVersion': storageVersionStrategy,
  'resource.k8s.io/DeviceClass': deviceClassStrategy,
  'resource.k8s.io/DeviceTaintRule': deviceTaintRuleStrategy,
  'resource.k8s.io/ResourceClaim': resourceClaimStrategy,
  'resource.k8s.io/ResourceClaimTemplate': resourceClaimTemplateStrategy,
  'resource.k8s.io/ResourceSlice': resourceSliceStrategy,
  'storagemigration.k8s.io/StorageVersionMigration': storageVersionMigrationStrategy,
}
