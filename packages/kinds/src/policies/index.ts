import type { KindPolicy } from '../interfaces.ts'
import { admissionRegistrationPolicies } from './admissionregistration/index.ts'
import { apiextensionsPolicies } from './apiextensions/index.ts'
import { apiRegistrationPolicies } from './apiregistration/index.ts'
import { deploymentPolicy } from './apps/deployment.ts'
import { appsPolicies } from './apps/index.ts'
import { autoscalingPolicies } from './autoscaling/index.ts'
import { batchPolicies } from './batch/index.ts'
import { certificatesPolicies } from './certificates/index.ts'
import { leasePolicy } from './coordination/lease.ts'
import { configMapPolicy } from './core/config-map.ts'
import { endpointsPolicy } from './core/endpoints.ts'
import { eventPolicy, newEventPolicy } from './core/event.ts'
import { limitRangePolicy } from './core/limit-range.ts'
import { namespacePolicy } from './core/namespace.ts'
import { nodePolicy } from './core/node.ts'
import { persistentVolumePolicy } from './core/persistent-volume.ts'
import { persistentVolumeClaimPolicy } from './core/persistent-volume-claim.ts'
import { podPolicy } from './core/pod.ts'
import { podTemplatePolicy } from './core/pod-template.ts'
import { replicationControllerPolicy } from './core/replication-controller.ts'
import { resourceQuotaPolicy } from './core/resource-quota.ts'
import { secretPolicy } from './core/secret.ts'
import { servicePolicy } from './core/service.ts'
import { serviceAccountPolicy } from './core/service-account.ts'
import { discoveryPolicies } from './discovery/index.ts'
import { flowControlPolicies } from './flowcontrol/index.ts'
import { ingressPolicy } from './networking/ingress.ts'
import { ingressClassPolicy } from './networking/ingress-class.ts'
import { ipAddressPolicy } from './networking/ip-address.ts'
import { networkPolicyPolicy } from './networking/network-policy.ts'
import { serviceCidrPolicy } from './networking/service-cidr.ts'
import { nodePolicies } from './node/index.ts'
import { plainPolicies } from './plain/index.ts'
import { podDisruptionBudgetPolicy } from './policy/pod-disruption-budget.ts'
import { clusterRolePolicy, rolePolicy } from './rbac/role.ts'
import { clusterRoleBindingPolicy, roleBindingPolicy } from './rbac/role-binding.ts'
import { schedulingPolicies } from './scheduling/index.ts'
import { csiDriverPolicy } from './storage/csi-driver.ts'
import { storagePolicies } from './storage/index.ts'
import { storageClassPolicy } from './storage/storage-class.ts'

/** Policies of the built-in kinds, by `group/Kind` of the storage version; the core group is empty (`/Pod`). */
export const policies: Readonly<Record<string, KindPolicy>> = {
  '/ConfigMap': configMapPolicy,
  '/Endpoints': endpointsPolicy,
  '/Event': eventPolicy,
  '/LimitRange': limitRangePolicy,
  '/Namespace': namespacePolicy,
  '/Node': nodePolicy,
  '/PersistentVolume': persistentVolumePolicy,
  '/PersistentVolumeClaim': persistentVolumeClaimPolicy,
  '/Pod': podPolicy,
  '/PodTemplate': podTemplatePolicy,
  '/ReplicationController': replicationControllerPolicy,
  '/ResourceQuota': resourceQuotaPolicy,
  '/Secret': secretPolicy,
  '/Service': servicePolicy,
  '/ServiceAccount': serviceAccountPolicy,
  'apps/Deployment': deploymentPolicy,
  'coordination.k8s.io/Lease': leasePolicy,
  'events.k8s.io/Event': newEventPolicy,
  ...appsPolicies,
  ...batchPolicies,
  ...admissionRegistrationPolicies,
  ...apiextensionsPolicies,
  ...apiRegistrationPolicies,
  ...autoscalingPolicies,
  ...certificatesPolicies,
  ...discoveryPolicies,
  ...flowControlPolicies,
  ...nodePolicies,
  ...plainPolicies,
  ...schedulingPolicies,
  ...storagePolicies,
  'networking.k8s.io/Ingress': ingressPolicy,
  'networking.k8s.io/IngressClass': ingressClassPolicy,
  'networking.k8s.io/IPAddress': ipAddressPolicy,
  'networking.k8s.io/ServiceCIDR': serviceCidrPolicy,
  'networking.k8s.io/NetworkPolicy': networkPolicyPolicy,
  'policy/PodDisruptionBudget': podDisruptionBudgetPolicy,
  'rbac.authorization.k8s.io/ClusterRole': clusterRolePolicy,
  'rbac.authorization.k8s.io/ClusterRoleBinding': clusterRoleBindingPolicy,
  'rbac.authorization.k8s.io/Role': rolePolicy,
  'rbac.authorization.k8s.io/RoleBinding': roleBindingPolicy,
  'storage.k8s.io/CSIDriver': csiDriverPolicy,
  'storage.k8s.io/StorageClass': storageClassPolicy,
}
