/** `pods/eviction`: a deletion that disruption budgets may refuse. */
import { type DeepReadonly, formatTime } from '@krmkit/meta'
import { copyJson } from '@krmkit/schema/json'
import type { Pod, PodCondition } from '../../../types/core-v1.generated.ts'

const idlePhases: readonly string[] = ['Pending', 'Succeeded', 'Failed']

/** Whether no budget protects the pod, because it does not run or is terminating. {@link withDisruptionTarget} has an example. */
export function ignoresBudgets({ metadata, status }: DeepReadonly<Pod>): boolean {
  return metadata.deletionTimestamp !== undefined || idlePhases.includes(status?.phase ?? '')
}

/**
 * Returns a copy of the pod with the condition `DisruptionTarget`, which states why a terminating pod ends.
 *
 * @param now milliseconds since the epoch; a condition that holds already keeps its time.
 * @example
 * import type { Pod } from '@krmkit/kinds/core/v1'
 * import { ignoresBudgets, withDisruptionTarget } from '@krmkit/kinds/strategies'
 * const status = { phase: 'Running' }
 * const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, status }
 * ignoresBudgets(pod) // false
 * withDisruptionTarget(pod, Date.now()).status?.conditions?.[0]?.type // 'DisruptionTarget'
 */
export function withDisruptionTarget(pod: DeepReadonly<Pod>, now: number): Pod {
  const evicted = copyJson(pod as Pod)
  const conditions = evicted.status?.conditions ?? []
  const index = conditions.findIndex(({ type }) => type === 'DisruptionTarget')
  const old = conditions[index]
  const condition: PodCondition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastTransitionTime: (old?.status === 'True' ? old.lastTransitionTime : undefined) ?? formatTime(now),
  }
  if (index < 0) conditions.push(condition)
  else conditions[index] = condition
  evicted.status = { ...evicted.status, conditions }
  return evicted
}
