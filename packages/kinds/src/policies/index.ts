import type { KindPolicy } from '../interfaces.ts'
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
  'events.k8s.io/Event': newEventPolicy,
}
