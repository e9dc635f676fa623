import type { Strategy } from '../../interfaces.ts'
import { controllerRevisionStrategy } from './controller-revision.ts'
import { daemonSetStrategy } from './daemon-set.ts'
import { replicaSetStrategy } from './replica-set.ts'
import { statefulSetStrategy } from './stateful-set.ts'

/** Policies of the group, by `group/Kind`. */
export const appsStrategies: Readonly<Record<string, Strategy>> = {
  'apps/ControllerRevision': controllerRevisionStrategy,
  'apps/DaemonSet': daemonSetStrategy,
  'apps/ReplicaSet': replicaSetStrategy,
  'apps/StatefulSet': statefulSetStrategy,
}
