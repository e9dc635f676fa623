import type { Printer } from '../interfaces.ts'
import { nameAndAgePrinter } from '../printers/default.ts'
import { mutatingAdmissionPolicyPrinter } from './admissionregistration/mutating-admission-policy/printer.ts'
import { validatingAdmissionPolicyPrinter } from './admissionregistration/validating-admission-policy/printer.ts'
import { admissionPolicyBindingPrinter } from './admissionregistration/validating-admission-policy-binding/printer.ts'
import { webhookConfigurationPrinter } from './admissionregistration/webhook-configuration/printer.ts'
import { apiServicePrinter } from './apiregistration/api-service/printer.ts'
import { storageVersionPrinter } from './apiserverinternal/storage-version/printer.ts'
import { controllerRevisionPrinter } from './apps/controller-revision/printer.ts'
import { daemonSetPrinter } from './apps/daemon-set/printer.ts'
import { deploymentPrinter } from './apps/deployment/printer.ts'
import { replicaSetPrinter } from './apps/replica-set/printer.ts'
import { statefulSetPrinter } from './apps/stateful-set/printer.ts'
import { horizontalPodAutoscalerPrinter } from './autoscaling/horizontal-pod-autoscaler/printer.ts'
import { scalePrinter } from './autoscaling/scale/printer.ts'
import { cronJobPrinter } from './batch/cron-job/printer.ts'
import { jobPrinter } from './batch/job/printer.ts'
import { certificateSigningRequestPrinter } from './certificates/certificate-signing-request/printer.ts'
import { clusterTrustBundlePrinter } from './certificates/cluster-trust-bundle/printer.ts'
import { podCertificateRequestPrinter } from './certificates/pod-certificate-request/printer.ts'
import { leasePrinter } from './coordination/lease/printer.ts'
import { leaseCandidatePrinter } from './coordination/lease-candidate/printer.ts'
import { componentStatusPrinter } from './core/component-status/printer.ts'
import { configMapPrinter } from './core/config-map/printer.ts'
import { endpointsPrinter } from './core/endpoints/printer.ts'
import { eventPrinter } from './core/event/printer.ts'
import { namespacePrinter } from './core/namespace/printer.ts'
import { nodePrinter } from './core/node/printer.ts'
import { persistentVolumePrinter } from './core/persistent-volume/printer.ts'
import { persistentVolumeClaimPrinter } from './core/persistent-volume-claim/printer.ts'
import { podPrinter } from './core/pod/printer.ts'
import { podTemplatePrinter } from './core/pod-template/printer.ts'
import { replicationControllerPrinter } from './core/replication-controller/printer.ts'
import { resourceQuotaPrinter } from './core/resource-quota/printer.ts'
import { secretPrinter } from './core/secret/printer.ts'
import { servicePrinter } from './core/service/printer.ts'
import { serviceAccountPrinter } from './core/service-account/printer.ts'
import { endpointSlicePrinter } from './discovery/endpoint-slice/printer.ts'
import { flowSchemaPrinter } from './flowcontrol/flow-schema/printer.ts'
import { priorityLevelPrinter } from './flowcontrol/priority-level-configuration/printer.ts'
import { evictionPrinter } from './lifecycle/eviction-printer.ts'
import { evictionRequestPrinter } from './lifecycle/printers.ts'
import { ingressPrinter } from './networking/ingress/printer.ts'
import { ingressClassPrinter } from './networking/ingress-class/printer.ts'
import { ipAddressPrinter } from './networking/ip-address/printer.ts'
import { networkPolicyPrinter } from './networking/network-policy/printer.ts'
import { serviceCidrPrinter } from './networking/service-cidr/printer.ts'
import { runtimeClassPrinter } from './node/runtime-class/printer.ts'
import { podDisruptionBudgetPrinter } from './policy/pod-disruption-budget/printer.ts'
import { bindingPrinter } from './rbac/role-binding/printer.ts'
import { deviceTaintRulePrinter } from './resource/device-taint-rule/printer.ts'
import { resourceClaimPrinter } from './resource/resource-claim/printer.ts'
import { resourcePoolStatusRequestPrinter } from './resource/resource-pool-status-request/printer.ts'
import { resourceSlicePrinter } from './resource/resource-slice/printer.ts'
import { compositePodGroupPrinter, podGroupPrinter } from './scheduling/pod-group/printer.ts'
import { priorityClassPrinter } from './scheduling/priority-class/printer.ts'
import { csiDriverPrinter } from './storage/csi-driver/printer.ts'
import { csiNodePrinter } from './storage/csi-node/printer.ts'
import { storageClassPrinter } from './storage/storage-class/printer.ts'
import { volumeAttachmentPrinter } from './storage/volume-attachment/printer.ts'
import { volumeAttributesClassPrinter } from './storage/volume-attributes-class/printer.ts'
import { storageVersionMigrationPrinter } from './storagemigration/storage-version-migration/printer.ts'

export { defaultPrinter } from '../printers/default.ts'
export { humanDuration } from '../printers/duration.ts'

/**
 * Printers of the built-in kinds, by `group/Kind` of the storage version; the core group is empty. Groups have their stock
 * names. Kinds absent here use `defaultPrinter`.
 */
export const printers: Readonly<Record<string, Printer>> = {
  '/ComponentStatus': componentStatusPrinter as Printer,
  '/ConfigMap': configMapPrinter as Printer,
  '/Endpoints': endpointsPrinter as Printer,
  '/Event': eventPrinter as Printer,
  '/Namespace': namespacePrinter as Printer,
  '/Node': nodePrinter as Printer,
  '/PersistentVolume': persistentVolumePrinter as Printer,
  '/PersistentVolumeClaim': persistentVolumeClaimPrinter as Printer,
  '/Pod': podPrinter as Printer,
  '/PodTemplate': podTemplatePrinter as Printer,
  '/ReplicationController': replicationControllerPrinter as Printer,
  '/ResourceQuota': resourceQuotaPrinter as Printer,
  '/Secret': secretPrinter as Printer,
  '/Service': servicePrinter as Printer,
  '/ServiceAccount': serviceAccountPrinter as Printer,
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': mutatingAdmissionPolicyPrinter as Printer,
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': admissionPolicyBindingPrinter as Printer,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhookConfigurationPrinter as Printer,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': validatingAdmissionPolicyPrinter as Printer,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': admissionPolicyBindingPrinter as Printer,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhookConfigurationPrinter as Printer,
  'apiregistration.k8s.io/APIService': apiServicePrinter as Printer,
  'apps/ControllerRevision': controllerRevisionPrinter as Printer,
  'apps/DaemonSet': daemonSetPrinter as Printer,
  'apps/Deployment': deploymentPrinter as Printer,
  'apps/ReplicaSet': replicaSetPrinter as Printer,
  'apps/StatefulSet': statefulSetPrinter as Printer,
  'autoscaling/HorizontalPodAutoscaler': horizontalPodAutoscalerPrinter as Printer,
  'autoscaling/Scale': scalePrinter as Printer,
  'batch/CronJob': cronJobPrinter as Printer,
  'batch/Job': jobPrinter as Printer,
  'certificates.k8s.io/CertificateSigningRequest': certificateSigningRequestPrinter as Printer,
  'certificates.k8s.io/ClusterTrustBundle': clusterTrustBundlePrinter as Printer,
  'certificates.k8s.io/PodCertificateRequest': podCertificateRequestPrinter as Printer,
  'coordination.k8s.io/Lease': leasePrinter as Printer,
  'coordination.k8s.io/LeaseCandidate': leaseCandidatePrinter as Printer,
  'discovery.k8s.io/EndpointSlice': endpointSlicePrinter as Printer,
  'flowcontrol.apiserver.k8s.io/FlowSchema': flowSchemaPrinter as Printer,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': priorityLevelPrinter as Printer,
  'internal.apiserver.k8s.io/StorageVersion': storageVersionPrinter as Printer,
  'lifecycle.k8s.io/Eviction': evictionPrinter,
  'lifecycle.k8s.io/EvictionRequest': evictionRequestPrinter,
  'networking.k8s.io/Ingress': ingressPrinter as Printer,
  'networking.k8s.io/IngressClass': ingressClassPrinter as Printer,
  'networking.k8s.io/IPAddress': ipAddressPrinter as Printer,
  'networking.k8s.io/NetworkPolicy': networkPolicyPrinter as Printer,
  'networking.k8s.io/ServiceCIDR': serviceCidrPrinter as Printer,
  'node.k8s.io/RuntimeClass': runtimeClassPrinter as Printer,
  'policy/PodDisruptionBudget': podDisruptionBudgetPrinter as Printer,
  'rbac.authorization.k8s.io/ClusterRoleBinding': bindingPrinter as Printer,
  'rbac.authorization.k8s.io/RoleBinding': bindingPrinter as Printer,
  'resource.k8s.io/DeviceClass': nameAndAgePrinter as Printer,
  'resource.k8s.io/DeviceTaintRule': deviceTaintRulePrinter as Printer,
  'resource.k8s.io/ResourceClaim': resourceClaimPrinter as Printer,
  'resource.k8s.io/ResourceClaimTemplate': nameAndAgePrinter as Printer,
  'resource.k8s.io/ResourcePoolStatusRequest': resourcePoolStatusRequestPrinter,
  'resource.k8s.io/ResourceSlice': resourceSlicePrinter as Printer,
  'scheduling.k8s.io/CompositePodGroup': compositePodGroupPrinter,
  'scheduling.k8s.io/PodGroup': podGroupPrinter,
  'scheduling.k8s.io/PriorityClass': priorityClassPrinter as Printer,
  'scheduling.k8s.io/Workload': nameAndAgePrinter,
  'storage.k8s.io/CSIDriver': csiDriverPrinter as Printer,
  'storage.k8s.io/CSINode': csiNodePrinter as Printer,
  'storage.k8s.io/StorageClass': storageClassPrinter as Printer,
  'storage.k8s.io/VolumeAttachment': volumeAttachmentPrinter as Printer,
  'storage.k8s.io/VolumeAttributesClass': volumeAttributesClassPrinter as Printer,
  'storagemigration.k8s.io/StorageVersionMigration': storageVersionMigrationPrinter as Printer,
}
