import type { Informer } from '@krmkit/client'
import { formatTime } from '@krmkit/meta'
import { labelSelectorFromObject } from '@krmkit/meta/selectors'
import { controllerOf } from '@krmkit/meta/validation'
import { ObjectEvents } from '../events/object-events.ts'
import { ignoreNotFound } from '../framework/api-errors.ts'
import { sameJson } from '../framework/same-json.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { RequeueAfter, WorkQueue } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { Expectations } from '../workloads/expectations.ts'
import { queueKey, type ReadonlyPod, splitKey } from '../workloads/objects.ts'
import { OwnedPods } from '../workloads/owned-pods.ts'
import { isNotFound } from '../workloads/pod-control.ts'
import { type BackoffRecord, noFailures, remainingMs, withFinished } from './backoff.ts'
import { createState, deadlineMs, evaluate, type JobState, jobCondition } from './job-state.ts'
import {
  hasTracking,
  isSuspended,
  type Job,
  type JobKeys,
  jobKeysOf,
  jobs,
  type ReadonlyJob,
  terminalCondition,
} from './objects.ts'
import { type ManagedPods, PodManager, removeFinalizer } from './pod-manager.ts'
import { countReleased, finish, planTracking } from './tracking.ts'

/** Runs the pods of jobs until enough of them have succeeded or too many have failed. */
export const jobController: Controller = {
  name: 'job-controller',
  isDefault: false,
  start: (context) => disposeSubscriptions(new JobController(context).subscriptions),
}

class JobController {
  readonly #context: ControllerContext
  readonly #keys: JobKeys
  readonly #jobs: Informer<Job>
  readonly #pods: OwnedPods<Job>
  readonly #expectations: Expectations
  readonly #events: ObjectEvents<Job>
  readonly #manager: PodManager
  /** Uids of pods whose finalizer was removed, by job, until the informer delivers the change. */
  readonly #released = new Map<string, Set<string>>()
  readonly #backoff = new Map<string, BackoffRecord>()
  /** The resourceVersions of a job that this controller has overwritten, until the informer delivers a later version. */
  readonly #replaced = new Map<string, Set<string | undefined>>()
  readonly #orphans: WorkQueue<string>
  readonly subscriptions: readonly (() => void)[]

  constructor(context: ControllerContext) {
    const { informers, clock, profile, rateLimit } = context
    this.#context = context
    this.#keys = jobKeysOf(profile)
    this.#expectations = new Expectations(clock)
    this.#events = new ObjectEvents(context, jobs, 'job-controller')
    this.#manager = new PodManager(context, this.#expectations, this.#events)
    this.#jobs = informers.of(jobs)
    const queue = context.queue<string>({ sync: (key) => this.#sync(key), rateLimit })
    this.#orphans = context.queue<string>({ sync: (key) => this.#releaseOrphan(key), rateLimit })
    const enqueue = (job: ReadonlyJob) => queue.add(queueKey(job))
    this.#pods = new OwnedPods({
      context,
      owners: this.#jobs,
      resource: jobs,
      selectorOf: ({ spec }) => (spec?.selector == null ? undefined : labelSelectorFromObject(spec.selector)),
      changed: enqueue,
      created: (key) => this.#expectations.created(key),
      deleted: (key, pod) => {
        this.#expectations.deleted(key, pod.metadata.uid)
        this.#noteFinalizer(key, pod)
      },
      updated: (key, pod) => this.#noteFinalizer(key, pod),
    })
    const ended = (job: ReadonlyJob) => {
      for (const pod of this.#pods.of(job)) this.#checkOrphan(pod)
    }
    this.subscriptions = [
      this.#jobs.on({
        added: enqueue,
        updated: (job) => {
          enqueue(job)
          if (terminalCondition(job) !== undefined) ended(job)
        },
        deleted: (job) => {
          enqueue(job)
          ended(job)
        },
      }),
      this.#pods.subscribe(),
      this.#pods.informer.on({ added: (pod) => this.#checkOrphan(pod), updated: (pod) => this.#checkOrphan(pod) }),
    ]
  }

  #noteFinalizer(key: string, pod: ReadonlyPod): void {
    if (!hasTracking(pod, this.#keys)) this.#released.get(key)?.delete(pod.metadata.uid ?? '')
  }

  async #sync(key: string): Promise<RequeueAfter | undefined> {
    await this.#pods.synced()
    const { namespace, name } = splitKey(key)
    const job = this.#jobs.get(name, namespace)
    if (job === undefined) this.#expectations.forget(key)
    if (job === undefined || terminalCondition(job) !== undefined) {
      this.#released.delete(key)
      this.#backoff.delete(key)
      this.#replaced.delete(key)
      return undefined
    }
    // The event of the later version will queue the job again.
    if (this.#replaced.get(key)?.has(job.metadata.resourceVersion) === true) return undefined
    this.#replaced.delete(key)
    const { managedBy = this.#keys.manager } = job.spec ?? {}
    if (managedBy !== this.#keys.manager) return undefined
    const waitMs = this.#expectations.waitMs(key)
    const pods = await this.#pods.claim(job, () => true, { finalizer: this.#keys.tracking })
    const nowMs = this.#context.clock.now()
    const released = new Set(this.#released.get(key))
    const state = createState(job, pods, { keys: this.#keys, nowMs, released })
    const backoff = withFinished(this.#backoff.get(key) ?? noFailures, state.newlySucceeded, state.newlyFailed)
    state.finished = evaluate(state)
    const managed = await this.#managePods(state, waitMs === 0, remainingMs(backoff, nowMs))
    await this.#track(key, state, managed, backoff)
    if (managed.error !== undefined) throw managed.error
    const deadline = state.finished === undefined ? deadlineMs(state) : undefined
    const waits = [deadline === undefined ? 0 : deadline - nowMs, managed.delayMs ?? 0, waitMs].filter((ms) => ms > 0)
    return waits.length === 0 ? undefined : { requeueAfterMs: Math.min(...waits) }
  }

  /** Deletes the pods of a job that is ending; otherwise creates and deletes pods to reach the parallelism. */
  async #managePods(state: JobState, isSatisfied: boolean, backoffMs: number): Promise<ManagedPods> {
    const { job, activePods } = state
    if (state.finished !== undefined) {
      const managed = await this.#manager.deleteActive(state)
      // Pods remain, or the informer may not have delivered new pods yet.
      if (managed.active > 0 || !isSatisfied) state.finished = undefined
      return managed
    }
    const mayManage = isSatisfied && job.metadata.deletionTimestamp === undefined
    const managed = mayManage ? await this.#manager.manage(state, backoffMs) : { active: activePods.length }
    const completions = job.spec?.completions
    const isComplete = completions == null ? state.succeeded > 0 : state.succeeded >= completions
    if (isComplete && managed.active === 0) {
      const message = 'Reached expected number of succeeded pods'
      state.finished = jobCondition(state, 'SuccessCriteriaMet', 'CompletionsReached', message)
    } else if (mayManage) {
      const change = noteSuspension(state)
      if (change !== undefined) this.#events.normal(job, change, `Job ${change.toLowerCase()}`)
    }
    return managed
  }

  /** Writes the status and releases ended pods, in the order that guarantees that each pod is counted once. */
  async #track(key: string, state: JobState, { active }: ManagedPods, backoff: BackoffRecord): Promise<void> {
    const { status, job } = state
    if (active === 0) delete status.active
    else status.active = active
    status.ready = state.ready
    status.terminating = state.terminating
    const plan = planTracking(state)
    if (plan.needsWrite || !sameJson(status, job.status ?? {})) {
      await this.#writeStatus(state)
      this.#backoff.set(key, backoff)
    }
    const error = await this.#releasePods(key, plan.released, plan.uidsWithFinalizer)
    const isCounted = countReleased(state, plan.uidsWithFinalizer)
    if (error !== undefined) {
      if (isCounted) await this.#writeStatus(state)
      throw error
    }
    const isFinished = !plan.isPartial && finish(state)
    if (isCounted || isFinished) await this.#writeStatus(state)
    if (isFinished) this.#recordEnd(state)
  }

  #recordEnd({ job, status, finished }: JobState): void {
    if (finished?.type !== 'Complete') {
      this.#events.warning(job, finished?.reason ?? '', finished?.message ?? '')
      return
    }
    const { completions } = job.spec ?? {}
    if (completions != null && (status.succeeded ?? 0) > completions) {
      this.#events.warning(job, 'TooManySucceededPods', 'Too many succeeded pods running after completion count reached')
    }
    this.#events.normal(job, 'Completed', 'Job completed')
  }

  async #writeStatus(state: JobState): Promise<void> {
    const { client, fieldManager, signal } = this.#context
    const { resourceVersion } = state.job.metadata
    const changed = { ...(state.job as Job), status: state.status }
    state.job = await client.update(jobs, changed, { subresource: 'status', fieldManager, signal })
    if (state.job.metadata.resourceVersion === resourceVersion) return
    const key = queueKey(state.job)
    const replaced = this.#replaced.get(key) ?? new Set()
    this.#replaced.set(key, replaced.add(resourceVersion))
  }

  /** Removes the finalizer of ended pods. @returns the first error */
  async #releasePods(key: string, pods: readonly ReadonlyPod[], uidsWithFinalizer: Set<string>): Promise<unknown> {
    if (pods.length === 0) return undefined
    const released = this.#released.get(key) ?? new Set()
    this.#released.set(key, released)
    const errors: unknown[] = []
    const release = async (pod: ReadonlyPod) => {
      const { uid = '' } = pod.metadata
      released.add(uid)
      try {
        await removeFinalizer(pod, this.#keys, this.#context)
        uidsWithFinalizer.delete(uid)
      } catch (error) {
        released.delete(uid)
        if (isNotFound(error)) uidsWithFinalizer.delete(uid)
        else errors.push(error)
      }
    }
    await Promise.all(pods.map(release))
    return errors[0]
  }

  /** Removes the finalizer of a pod whose job is deleted or has ended; otherwise the pod would keep it forever. */
  #checkOrphan(pod: ReadonlyPod): void {
    if (hasTracking(pod, this.#keys) && this.#isOrphan(pod)) this.#orphans.add(queueKey(pod))
  }

  #isOrphan({ metadata }: ReadonlyPod): boolean {
    const owner = controllerOf(metadata.ownerReferences)
    if (owner === undefined) return true
    if (owner.kind !== jobs.kind || owner.apiVersion !== 'batch/v1') return false
    if (!this.#jobs.hasSynced) return false
    const job = this.#jobs.get(owner.name, metadata.namespace ?? '')
    if (job === undefined || job.metadata.uid !== owner.uid) return true
    return terminalCondition(job) !== undefined && (job.spec?.managedBy ?? this.#keys.manager) === this.#keys.manager
  }

  async #releaseOrphan(key: string): Promise<undefined> {
    await this.#pods.synced()
    const { namespace, name } = splitKey(key)
    const pod = this.#pods.informer.get(name, namespace)
    if (pod === undefined || !this.#isOrphan(pod)) return undefined
    await ignoreNotFound(removeFinalizer(pod, this.#keys, this.#context))
    return undefined
  }
}

/**
 * Sets the Suspended condition when the job is suspended or resumed. A resumed job gets a new start time. @returns the
 * reason of the event
 */
function noteSuspension(state: JobState): 'Suspended' | 'Resumed' | undefined {
  const { job, status, nowMs } = state
  const before = status.conditions?.find(({ type }) => type === 'Suspended')
  const [value, reason, message] = isSuspended(job)
    ? (['True', 'JobSuspended', 'Job suspended'] as const)
    : (['False', 'JobResumed', 'Job resumed'] as const)
  if (before?.status === value || (before === undefined && value === 'False')) return undefined
  const condition = { ...jobCondition(state, 'Suspended', reason, message), status: value }
  const conditions = status.conditions ?? []
  status.conditions =
    before === undefined ? [...conditions, condition] : conditions.map((each) => (each === before ? condition : each))
  if (value === 'True') return 'Suspended'
  status.startTime = formatTime(nowMs)
  return 'Resumed'
}
