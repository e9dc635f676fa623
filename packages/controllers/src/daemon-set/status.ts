import { isAvailable, isReady } from '../workloads/pod-state.ts'
import type { DaemonSetView } from './node-plan.ts'
import { byAge, type DaemonSetStatus, isUpdated, placementOn } from './objects.ts'

/** Counts the nodes of a daemon set and their oldest pods. @param isObserved whether the current spec was processed */
export function daemonSetStatus(
  { set, nodes, podsByNode, hash, nowMs, profile }: DaemonSetView,
  { isObserved, collisionCount }: { readonly isObserved: boolean; readonly collisionCount: number },
): DaemonSetStatus {
  const counts = { desired: 0, current: 0, misscheduled: 0, ready: 0, updated: 0, available: 0 }
  for (const node of nodes) {
    const [pod] = [...(podsByNode.get(node.metadata.name ?? '') ?? [])].sort(byAge)
    if (!placementOn(set, node, profile).shouldRun) {
      if (pod !== undefined) counts.misscheduled++
      continue
    }
    counts.desired++
    if (pod === undefined) continue
    counts.current++
    if (isReady(pod)) counts.ready++
    if (isAvailable(pod, set.spec?.minReadySeconds, nowMs)) counts.available++
    if (isUpdated(set, pod, hash)) counts.updated++
  }
  const optional = {
    observedGeneration: isObserved ? set.metadata.generation : set.status?.observedGeneration,
    updatedNumberScheduled: counts.updated,
    numberAvailable: counts.available,
    numberUnavailable: counts.desired - counts.available,
    collisionCount,
  }
  return {
    currentNumberScheduled: counts.current,
    numberMisscheduled: counts.misscheduled,
    desiredNumberScheduled: counts.desired,
    numberReady: counts.ready,
    ...Object.fromEntries(Object.entries(optional).filter(([, count]) => count !== undefined && count !== 0)),
  }
}
