import type { KindPolicy } from '../interfaces.ts'
import { deploymentPolicy } from './apps/deployment.ts'
import { appsPolicies } from './apps/index.ts'
import { batchPolicies } from './batch/index.ts'
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
import { ingressPolicy } from './networking/ingress.ts'
import { ingressClassPolicy } from './networking/ingress-class.ts'
import { networkPolicyPolicy } from './networking/network-policy.ts'
import { podDisruptionBudgetPolicy } from './policy/pod-disruption-budget.ts'
import { clusterRolePolicy, rolePolicy } from './rbac/role.ts'
import { clusterRoleBindingPolicy, roleBindingPolicy } from './rbac/role-binding.ts'
import { csiDriverPolicy } from './storage/csi-driver.ts'
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
  'networking.k8s.io/Ingress': ingressPolicy,
  'networking.k8s.io/IngressClass': ingressClassPolicy,
  'networking.k8s.io/NetworkPolicy': networkPolicyPolicy,
  'policy/PodDisruptionBudget': podDisruptionBudgetPolicy,
  'rbac.authorization.k8s.io/ClusterRole': clusterRolePolicy,
  'rbac.authorization.k8s.io/ClusterRoleBinding': clusterRoleBindingPolicy,
  'rbac.authorization.k8s.io/Role': rolePolicy,
  'rbac.authorization.k8s.io/RoleBinding': roleBindingPolicy,
  'storage.k8s.io/CSIDriver': csiDriverPolicy,
  'storage.k8s.io/StorageClass': storageClassPolicy,
}
