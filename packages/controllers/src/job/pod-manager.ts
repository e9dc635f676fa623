import type { ObjectEvents } from '../events/object-events.ts'
import type { ControllerContext } from '../interfaces.ts'
import type { Expectations } from '../workloads/expectations.ts'
import { pods, queueKey, type ReadonlyPod } from '../workloads/objects.ts'
import { isNamespaceTerminating, isNotFound, PodControl } from '../workloads/pod-control.ts'
import { isReady } from '../workloads/pod-state.ts'
import { slowStart } from '../workloads/slow-start.ts'
import { finishedAtMs, remainingMs } from './backoff.ts'
import { failureCounts, type JobState } from './job-state.ts'
import { hasLimitPerIndex, hasTracking, isIndexed, isSuspended, type Job, type JobKeys, replacesOnlyFailed } from './objects.ts'
import { pendingIndexes, podOfJob, podsToDelete } from './pod-templates.ts'

/** Maximum number of pods that one sync creates or deletes. */
const maxPerSync = 500

/** The result of managing the pods of a job. */
export interface ManagedPods {
  /** Number of active pods after the sync. */
  readonly active: number
  readonly error?: unknown
  /** Delay until failed pods may be replaced, in milliseconds. */
  readonly delayMs?: number
}

/** Creates and deletes the pods of jobs. */
export class PodManager {
  readonly #context: ControllerContext
  readonly #expectations: Expectations
  readonly #control: PodControl<Job>

  constructor(context: ControllerContext, expectations: Expectations, events: ObjectEvents<Job>) {
    this.#context = context
    this.#control = new PodControl(context, events)
    this.#expectations = expectations
  }

  /** Moves the number of active pods towards the parallelism of the job. @param backoffMs delay after failures */
  async manage(state: JobState, backoffMs: number): Promise<ManagedPods> {
    const { job, activePods } = state
    const active = activePods.length
    const { profile } = this.#context
    if (isSuspended(job)) return this.#delete(state, podsToDelete(state, active, profile))
    const wanted = wantedActive(state)
    const surplus = podsToDelete(state, Math.max(0, active - wanted), profile).slice(0, maxPerSync)
    if (surplus.length > 0) return this.#delete(state, surplus)
    const missing = wanted - active - (replacesOnlyFailed(job) ? state.terminating : 0)
    if (missing <= 0) return { active }
    if (!hasLimitPerIndex(job) && backoffMs > 0) return { active: 0, delayMs: backoffMs }
    const count = Math.min(missing, maxPerSync)
    if (!isIndexed(job))
      return this.#create(
        state,
        Array.from({ length: count }, () => undefined),
      )
    const indexes = pendingIndexes(state, count)
    if (!hasLimitPerIndex(job)) return this.#create(state, indexes)
    const delays = indexes.map((index) => indexDelayMs(state, index))
    const ready = indexes.filter((_, i) => delays[i] === 0)
    const delayMs = Math.min(...delays)
    return ready.length === 0 && indexes.length > 0 ? { active: 0, delayMs } : this.#create(state, ready)
  }

  /** Deletes all active pods of a job that is ending. The pods keep the finalizer until they are counted. */
  async deleteActive(state: JobState): Promise<ManagedPods> {
    const { activePods, job } = state
    const errors: unknown[] = []
    const remove = async (pod: ReadonlyPod) => {
      try {
        await this.#control.delete(job, pod)
      } catch (error) {
        if (!isNotFound(error)) errors.push(error)
      }
    }
    await Promise.all(activePods.map(remove))
    const deleted = activePods.length - errors.length
    state.ready -= activePods.filter(isReady).length
    state.terminating += deleted
    return { active: activePods.length - deleted, error: errors[0] }
  }

  async #delete(state: JobState, surplus: readonly ReadonlyPod[]): Promise<ManagedPods> {
    const { job, keys, activePods } = state
    const key = queueKey(job)
    this.#expectations.expect(key, { deletions: surplus.map(({ metadata }) => metadata.uid ?? '') })
    const errors: unknown[] = []
    const remove = async (pod: ReadonlyPod) => {
      try {
        await removeFinalizer(pod, keys, this.#context)
        await this.#control.delete(job, pod)
      } catch (error) {
        this.#expectations.deleted(key, pod.metadata.uid)
        if (!isNotFound(error)) errors.push(error)
      }
    }
    await Promise.all(surplus.map(remove))
    const deleted = surplus.length - errors.length
    state.ready -= surplus.filter(isReady).length
    state.terminating += deleted
    return { active: activePods.length - deleted, error: errors[0] }
  }

  async #create(state: JobState, indexes: readonly (number | undefined)[]): Promise<ManagedPods> {
    const key = queueKey(state.job)
    this.#expectations.expect(key, { creations: indexes.length })
    let attempts = 0
    let failures = 0
    const { error } = await slowStart(indexes.length, async (i) => {
      attempts++
      try {
        await this.#control.create(state.job, await podOfJob(state, indexes[i]))
      } catch (error) {
        failures++
        this.#expectations.created(key)
        if (!isNamespaceTerminating(error)) throw error
      }
    })
    const active = state.activePods.length + attempts - failures
    for (; attempts < indexes.length; attempts++) this.#expectations.created(key)
    return { active, error }
  }
}

/** Removes the tracking finalizer from a pod. */
export async function removeFinalizer(
  pod: ReadonlyPod,
  keys: JobKeys,
  { client, fieldManager, signal }: ControllerContext,
): Promise<void> {
  if (!hasTracking(pod, keys)) return
  const { name = '', namespace = '', uid = '' } = pod.metadata
  const patch = { metadata: { uid, '$deleteFromPrimitiveList/finalizers': [keys.tracking] } }
  await client.patch(pods, name, { namespace, type: 'strategic', patch, fieldManager, signal })
}

function wantedActive({ job, activePods, succeeded }: JobState): number {
  const { completions, parallelism = 1 } = job.spec ?? {}
  // Without completions, the first success means that no new pods start; running pods may finish.
  if (completions == null) return succeeded > 0 ? activePods.length : parallelism
  return Math.max(0, Math.min(parallelism, completions - succeeded))
}

/** Returns the remaining delay before a failed pod of an index is replaced. */
function indexDelayMs({ awaitingReplacement, keys, nowMs }: JobState, index: number): number {
  const pod = awaitingReplacement.get(index)
  if (pod === undefined) return 0
  return remainingMs({ failures: failureCounts(pod, keys).total + 1, lastFailureMs: finishedAtMs(pod) }, nowMs)
}
