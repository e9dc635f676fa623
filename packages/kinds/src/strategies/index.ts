import type { Strategy } from '../interfaces.ts'
import {
  mutatingAdmissionPolicyBindingStrategy,
  mutatingAdmissionPolicyStrategy,
} from './admissionregistration/mutating-admission-policy/strategy.ts'
import {
  validatingAdmissionPolicyBindingStrategy,
  validatingAdmissionPolicyStrategy,
} from './admissionregistration/validating-admission-policy/strategy.ts'
import {
  mutatingWebhookConfigurationStrategy,
  validatingWebhookConfigurationStrategy,
} from './admissionregistration/webhook-configuration/strategy.ts'
import { customResourceDefinitionStrategy } from './apiextensions/custom-resource-definition/strategy.ts'
import { apiServiceStrategy } from './apiregistration/api-service/strategy.ts'
import { storageVersionStrategy } from './apiserverinternal/storage-version/strategy.ts'
import { controllerRevisionStrategy } from './apps/controller-revision/strategy.ts'
import { daemonSetStrategy } from './apps/daemon-set/strategy.ts'
import { deploymentStrategy } from './apps/deployment/strategy.ts'
import { replicaSetStrategy } from './apps/replica-set/strategy.ts'
import { statefulSetStrategy } from './apps/stateful-set/strategy.ts'
import { horizontalPodAutoscalerStrategy } from './autoscaling/horizontal-pod-autoscaler/strategy.ts'
import { cronJobStrategy } from './batch/cron-job/strategy.ts'
import { jobStrategy } from './batch/job/strategy.ts'
import { certificateSigningRequestStrategy } from './certificates/certificate-signing-request/strategy.ts'
import { clusterTrustBundleStrategy } from './certificates/cluster-trust-bundle/strategy.ts'
import { podCertificateRequestStrategy } from './certificates/pod-certificate-request/strategy.ts'
import { leaseStrategy } from './coordination/lease/strategy.ts'
import { leaseCandidateStrategy } from './coordination/lease-candidate/strategy.ts'
import { configMapStrategy } from './core/config-map/strategy.ts'
import { endpointsStrategy } from './core/endpoints/strategy.ts'
import { eventStrategy, eventsGroupEventStrategy } from './core/event/strategy.ts'
import { limitRangeStrategy } from './core/limit-range.ts'
import { namespaceStrategy } from './core/namespace/strategy.ts'
import { nodeStrategy } from './core/node/strategy.ts'
import { persistentVolumeStrategy } from './core/persistent-volume/strategy.ts'
import { persistentVolumeClaimStrategy } from './core/persistent-volume-claim/strategy.ts'
import { podStrategy } from './core/pod/strategy.ts'
import { podTemplateStrategy } from './core/pod-template/strategy.ts'
import { replicationControllerStrategy } from './core/replication-controller/strategy.ts'
import { resourceQuotaStrategy } from './core/resource-quota/strategy.ts'
import { secretStrategy } from './core/secret/strategy.ts'
import { serviceStrategy } from './core/service/strategy.ts'
import { serviceAccountStrategy } from './core/service-account/strategy.ts'
import { endpointSliceStrategy } from './discovery/endpoint-slice/strategy.ts'
import { flowSchemaStrategy } from './flowcontrol/flow-schema/strategy.ts'
import { priorityLevelConfigurationStrategy } from './flowcontrol/priority-level-configuration/strategy.ts'
import { evictionRequestStrategy, evictionStrategy } from './lifecycle/strategies.ts'
import { ingressStrategy } from './networking/ingress/strategy.ts'
import { ingressClassStrategy } from './networking/ingress-class/strategy.ts'
import { ipAddressStrategy } from './networking/ip-address/strategy.ts'
import { networkPolicyStrategy } from './networking/network-policy/strategy.ts'
import { serviceCidrStrategy } from './networking/service-cidr/strategy.ts'
import { runtimeClassStrategy } from './node/runtime-class/strategy.ts'
import { podDisruptionBudgetStrategy } from './policy/pod-disruption-budget/strategy.ts'
import { clusterRoleStrategy, roleStrategy } from './rbac/role.ts'
import { clusterRoleBindingStrategy, roleBindingStrategy } from './rbac/role-binding/strategy.ts'
import { deviceClassStrategy } from './resource/device-class/strategy.ts'
import { deviceTaintRuleStrategy } from './resource/device-taint-rule/strategy.ts'
import { resourceClaimStrategy } from './resource/resource-claim/strategy.ts'
import { resourceClaimTemplateStrategy } from './resource/resource-claim-template/strategy.ts'
import { resourcePoolStatusRequestStrategy } from './resource/resource-pool-status-request/strategy.ts'
import { resourceSliceStrategy } from './resource/resource-slice/strategy.ts'
import { compositePodGroupStrategy, podGroupStrategy } from './scheduling/pod-group/strategy.ts'
import { priorityClassStrategy } from './scheduling/priority-class/strategy.ts'
import { workloadStrategy } from './scheduling/workload/strategy.ts'
import { csiDriverStrategy } from './storage/csi-driver/strategy.ts'
import { csiNodeStrategy } from './storage/csi-node/strategy.ts'
import { csiStorageCapacityStrategy } from './storage/csi-storage-capacity.ts'
import { storageClassStrategy } from './storage/storage-class/strategy.ts'
import { volumeAttachmentStrategy } from './storage/volume-attachment/strategy.ts'
import { volumeAttributesClassStrategy } from './storage/volume-attributes-class/strategy.ts'
import { storageVersionMigrationStrategy } from './storagemigration/storage-version-migration/strategy.ts'

export { healthyComponent } from './core/component-status/status.ts'
export { bindPod, validateBinding } from './core/pod/binding.ts'
export { chosenContainer } from './core/pod/containers.ts'
export { ignoresBudgets, withDisruptionTarget } from './core/pod/eviction.ts'
export {
  type BoundObjectReader,
  boundObject,
  type CompleteTokenRequest,
  completeTokenRequest,
  grantTokenRequest,
  type TokenAccount,
  type TokenBinding,
  type TokenGrant,
  validateTokenName,
  validateTokenRequest,
} from './core/service-account/token.ts'
export { mandatoryFlowSchemas, mandatoryPriorityLevels } from './flowcontrol/mandatory.ts'
export { protectingBudget, takeDisruption, unsettledBudget } from './policy/pod-disruption-budget/disruption.ts'
export { missingErrors, missingMembers, newlyMissing, type RequiredMembers } from './required-members.ts'
export { reportedErrors } from './shared/repeated-errors.ts'

/** Strategies of the built-in kinds, by `group/Kind` of the storage version; the core group is empty (`/Pod`). */
export const strategies: Readonly<Record<string, Strategy>> = {
  '/ConfigMap': configMapStrategy,
  '/Endpoints': endpointsStrategy,
  '/Event': eventStrategy,
  '/LimitRange': limitRangeStrategy,
  '/Namespace': namespaceStrategy,
  '/Node': nodeStrategy,
  '/PersistentVolume': persistentVolumeStrategy,
  '/PersistentVolumeClaim': persistentVolumeClaimStrategy,
  '/Pod': podStrategy,
  '/PodTemplate': podTemplateStrategy,
  '/ReplicationController': replicationControllerStrategy,
  '/ResourceQuota': resourceQuotaStrategy,
  '/Secret': secretStrategy,
  '/Service': serviceStrategy,
  '/ServiceAccount': serviceAccountStrategy,
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': mutatingAdmissionPolicyStrategy,
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': mutatingAdmissionPolicyBindingStrategy,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': mutatingWebhookConfigurationStrategy,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': validatingAdmissionPolicyStrategy,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': validatingAdmissionPolicyBindingStrategy,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': validatingWebhookConfigurationStrategy,
  'apiextensions.k8s.io/CustomResourceDefinition': customResourceDefinitionStrategy,
  'apiregistration.k8s.io/APIService': apiServiceStrategy,
  'apps/ControllerRevision': controllerRevisionStrategy,
  'apps/DaemonSet': daemonSetStrategy,
  'apps/Deployment': deploymentStrategy,
  'apps/ReplicaSet': replicaSetStrategy,
  'apps/StatefulSet': statefulSetStrategy,
  'autoscaling/HorizontalPodAutoscaler': horizontalPodAutoscalerStrategy,
  'batch/CronJob': cronJobStrategy,
  'batch/Job': jobStrategy,
  'certificates.k8s.io/CertificateSigningRequest': certificateSigningRequestStrategy,
  'certificates.k8s.io/ClusterTrustBundle': clusterTrustBundleStrategy,
  'certificates.k8s.io/PodCertificateRequest': podCertificateRequestStrategy,
  'coordination.k8s.io/Lease': leaseStrategy,
  'coordination.k8s.io/LeaseCandidate': leaseCandidateStrategy,
  'discovery.k8s.io/EndpointSlice': endpointSliceStrategy,
  'events.k8s.io/Event': eventsGroupEventStrategy,
  'flowcontrol.apiserver.k8s.io/FlowSchema': flowSchemaStrategy,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': priorityLevelConfigurationStrategy,
  'internal.apiserver.k8s.io/StorageVersion': storageVersionStrategy,
  'lifecycle.k8s.io/Eviction': evictionStrategy,
  'lifecycle.k8s.io/EvictionRequest': evictionRequestStrategy,
  'networking.k8s.io/IPAddress': ipAddressStrategy,
  'networking.k8s.io/Ingress': ingressStrategy,
  'networking.k8s.io/IngressClass': ingressClassStrategy,
  'networking.k8s.io/NetworkPolicy': networkPolicyStrategy,
  'networking.k8s.io/ServiceCIDR': serviceCidrStrategy,
  'node.k8s.io/RuntimeClass': runtimeClassStrategy,
  'policy/PodDisruptionBudget': podDisruptionBudgetStrategy,
  'rbac.authorization.k8s.io/ClusterRole': clusterRoleStrategy,
  'rbac.authorization.k8s.io/ClusterRoleBinding': clusterRoleBindingStrategy,
  'rbac.authorization.k8s.io/Role': roleStrategy,
  'rbac.authorization.k8s.io/RoleBinding': roleBindingStrategy,
  'resource.k8s.io/DeviceClass': deviceClassStrategy,
  'resource.k8s.io/DeviceTaintRule': deviceTaintRuleStrategy,
  'resource.k8s.io/ResourceClaim': resourceClaimStrategy,
  'resource.k8s.io/ResourceClaimTemplate': resourceClaimTemplateStrategy,
  'resource.k8s.io/ResourcePoolStatusRequest': resourcePoolStatusRequestStrategy,
  'resource.k8s.io/ResourceSlice': resourceSliceStrategy,
  'scheduling.k8s.io/CompositePodGroup': compositePodGroupStrategy,
  'scheduling.k8s.io/PodGroup': podGroupStrategy,
  'scheduling.k8s.io/PriorityClass': priorityClassStrategy,
  'scheduling.k8s.io/Workload': workloadStrategy,
  'storage.k8s.io/CSIDriver': csiDriverStrategy,
  'storage.k8s.io/CSINode': csiNodeStrategy,
  'storage.k8s.io/CSIStorageCapacity': csiStorageCapacityStrategy,
  'storage.k8s.io/StorageClass': storageClassStrategy,
  'storage.k8s.io/VolumeAttachment': volumeAttachmentStrategy,
  'storage.k8s.io/VolumeAttributesClass': volumeAttributesClassStrategy,
  'storagemigration.k8s.io/StorageVersionMigration': storageVersionMigrationStrategy,
}
