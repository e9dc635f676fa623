import { formatTime, type JsonObject } from '@krmkit/meta'
import type { ControllerContext } from '../interfaces.ts'
import { type PodCondition, pods, type ReadonlyPod } from './objects.ts'
import { podCondition } from './pod-state.ts'

/** Changes that controllers make to the status of pods. */

export interface PodStatusChange {
  readonly phase?: string
  readonly condition?: Pick<PodCondition, 'type' | 'status'> & { readonly reason?: string; readonly message?: string }
}

/**
 * Sets the phase or a condition of a pod. Writes nothing if it is already set. @throws ApiError `Conflict` when another pod
 * has the name
 */
export async function changePodStatus(pod: ReadonlyPod, change: PodStatusChange, context: ControllerContext): Promise<void> {
  const { client, clock, fieldManager, signal } = context
  const { phase, condition } = change
  const before = condition === undefined ? undefined : podCondition(pod, condition.type)
  const isSame =
    condition === undefined ||
    (before?.status === condition.status && before.reason === condition.reason && before.message === condition.message)
  if (isSame && (phase === undefined || pod.status?.phase === phase)) return
  const { name = '', namespace = '', uid = '' } = pod.metadata
  const time = formatTime(clock.now())
  const lastTransitionTime = before?.status === condition?.status ? (before?.lastTransitionTime ?? time) : time
  const conditions = condition === undefined ? {} : { conditions: [{ ...condition, lastTransitionTime }] }
  const patch: JsonObject = { metadata: { uid }, status: { ...(phase === undefined ? {} : { phase }), ...conditions } }
  await client.patch(pods, name, { namespace, type: 'strategic', subresource: 'status', patch, fieldManager, signal })
}
