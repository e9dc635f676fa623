import type { KindPolicy } from '../../interfaces.ts'
import { controllerRevisionPolicy } from './controller-revision.ts'
import { daemonSetPolicy } from './daemon-set.ts'
import { replicaSetPolicy } from './replica-set.ts'
import { statefulSetPolicy } from './stateful-set.ts'

/** Policies of the group, by `group/Kind`. */
export const appsPolicies: Readonly<Record<string, KindPolicy>> = {
  'apps/ControllerRevision': controllerRevisionPolicy,
  'apps/DaemonSet': daemonSetPolicy,
  'apps/ReplicaSet': replicaSetPolicy,
  'apps/StatefulSet': statefulSetPolicy,
}
