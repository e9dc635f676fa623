import type { Strategy } from '../interfaces.ts'
import { admissionRegistrationPolicies } from './admissionregistration/index.ts'
import { apiextensionsPolicies } from './apiextensions/index.ts'
import { apiRegistrationPolicies } from './apiregistration/index.ts'
import { deploymentStrategy } from './apps/deployment.ts'
import { appsPolicies } from './apps/index.ts'
import { autoscalingPolicies } from './autoscaling/index.ts'
import { batchPolicies } from './batch/index.ts'
import { certificatesPolicies } from './certificates/index.ts'
import { leaseStrategy } from './coordination/lease.ts'
import { configMapStrategy } from './core/config-map.ts'
import { endpointsStrategy } from './core/endpoints.ts'
import { eventStrategy, newEventStrategy } from './core/event.ts'
import { limitRangeStrategy } from './core/limit-range.ts'
import { namespaceStrategy } from './core/namespace.ts'
import { nodeStrategy } from './core/node.ts'
import { persistentVolumeStrategy } from './core/persistent-volume.ts'
import { persistentVolumeClaimStrategy } from './core/persistent-volume-claim.ts'
import { podStrategy } from './core/pod.ts'
import { podTemplateStrategy } from './core/pod-template.ts'
import { replicationControllerStrategy } from './core/replication-controller.ts'
import { resourceQuotaStrategy } from './core/resource-quota.ts'
import { secretStrategy } from './core/secret.ts'
import { serviceStrategy } from './core/service.ts'
import { serviceAccountStrategy } from './core/service-account.ts'
import { discoveryPolicies } from './discovery/index.ts'
import { flowControlPolicies } from './flowcontrol/index.ts'
import { ingressStrategy } from './networking/ingress.ts'
import { ingressClassStrategy } from './networking/ingress-class.ts'
import { ipAddressStrategy } from './networking/ip-address.ts'
import { networkPolicyStrategy } from './networking/network-policy.ts'
import { serviceCidrStrategy } from './networking/service-cidr.ts'
import { nodePolicies } from './node/index.ts'
import { plainPolicies } from './plain/index.ts'
import { podDisruptionBudgetStrategy } from './policy/pod-disruption-budget.ts'
import { clusterRoleStrategy, roleStrategy } from './rbac/role.ts'
import { clusterRoleBindingStrategy, roleBindingStrategy } from './rbac/role-binding.ts'
import { schedulingPolicies } from './scheduling/index.ts'
import { csiDriverStrategy } from './storage/csi-driver.ts'
import { storagePolicies } from './storage/index.ts'
import { storageClassStrategy } from './storage/storage-class.ts'

/** Policies of the built-in kinds, by `group/Kind` of the storage version; the core group is empty (`/Pod`). */
export const policies: Readonly<Record<string, Strategy>> = {
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
  'apps/Deployment': deploymentStrategy,
  'coordination.k8s.io/Lease': leaseStrategy,
  'events.k8s.io/Event': newEventStrategy,
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
  'networking.k8s.io/Ingress': ingressStrategy,
  'networking.k8s.io/IngressClass': ingressClassStrategy,
  'networking.k8s.io/IPAddress': ipAddressStrategy,
  'networking.k8s.io/ServiceCIDR': serviceCidrStrategy,
  'networking.k8s.io/NetworkPolicy': networkPolicyStrategy,
  'policy/PodDisruptionBudget': podDisruptionBudgetStrategy,
  'rbac.authorization.k8s.io/ClusterRole': clusterRoleStrategy,
  'rbac.authorization.k8s.io/ClusterRoleBinding': clusterRoleBindingStrategy,
  'rbac.authorization.k8s.io/Role': roleStrategy,
  'rbac.authorization.k8s.io/RoleBinding': roleBindingStrategy,
  'storage.k8s.io/CSIDriver': csiDriverStrategy,
  'storage.k8s.io/StorageClass': storageClassStrategy,
}
