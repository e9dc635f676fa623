import type { Strategy } from '../interfaces.ts'
import { admissionRegistrationStrategies } from './admissionregistration/index.ts'
import { apiextensionsStrategies } from './apiextensions/index.ts'
import { apiRegistrationStrategies } from './apiregistration/index.ts'
import { deploymentStrategy } from './apps/deployment.ts'
import { appsStrategies } from './apps/index.ts'
import { autoscalingStrategies } from './autoscaling/index.ts'
import { batchStrategies } from './batch/index.ts'
import { certificatesStrategies } from './certificates/index.ts'
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
import { discoveryStrategies } from './discovery/index.ts'
import { flowControlStrategies } from './flowcontrol/index.ts'
import { ingressStrategy } from './networking/ingress.ts'
import { ingressClassStrategy } from './networking/ingress-class.ts'
import { ipAddressStrategy } from './networking/ip-address.ts'
import { networkPolicyStrategy } from './networking/network-policy.ts'
import { serviceCidrStrategy } from './networking/service-cidr.ts'
import { nodeStrategies } from './node/index.ts'
import { plainStrategies } from './plain/index.ts'
import { podDisruptionBudgetStrategy } from './policy/pod-disruption-budget.ts'
import { clusterRoleStrategy, roleStrategy } from './rbac/role.ts'
import { clusterRoleBindingStrategy, roleBindingStrategy } from './rbac/role-binding.ts'
import { schedulingStrategies } from './scheduling/index.ts'
import { csiDriverStrategy } from './storage/csi-driver.ts'
import { storageStrategies } from './storage/index.ts'
import { storageClassStrategy } from './storage/storage-class.ts'

/** Policies of the built-in kinds, by `group/Kind` of the storage version; the core group is empty (`/Pod`). */
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
  'apps/Deployment': deploymentStrategy,
  'coordination.k8s.io/Lease': leaseStrategy,
  'events.k8s.io/Event': newEventStrategy,
  ...appsStrategies,
  ...batchStrategies,
  ...admissionRegistrationStrategies,
  ...apiextensionsStrategies,
  ...apiRegistrationStrategies,
  ...autoscalingStrategies,
  ...certificatesStrategies,
  ...discoveryStrategies,
  ...flowControlStrategies,
  ...nodeStrategies,
  ...plainStrategies,
  ...schedulingStrategies,
  ...storageStrategies,
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
