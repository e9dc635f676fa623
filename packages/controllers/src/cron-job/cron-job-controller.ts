import type { Informer } from '@krmkit/client'
import { ApiError, formatTime, parseTime } from '@krmkit/meta'
import { controllerOf } from '@krmkit/meta/validation'
import { errorText, ObjectEvents } from '../events/object-events.ts'
import { ignoreNotFound, ignoreReasons } from '../framework/api-errors.ts'
import { sameJson } from '../framework/same-json.ts'
import type { ObjectIndex } from '../framework/shared-informers.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { RequeueAfter, WorkQueue } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { type Job, jobs, type ReadonlyJob, terminalCondition } from '../job/objects.ts'
import { queueKey, splitKey } from '../workloads/objects.ts'
import { byController } from '../workloads/owned-pods.ts'
import { isNamespaceTerminating } from '../workloads/pod-control.ts'
import { delayUntilNext, dueTime } from './due.ts'
import { type CronJob, type CronJobStatus, cronJobs, jobName, jobOf, type ReadonlyCronJob, referenceTo } from './objects.ts'
import { parseSchedule, type Schedule } from './schedule.ts'

/** Creates jobs at the times of cron jobs. */
export const cronJobController: Controller = {
  name: 'cronjob-controller',
  isDefault: false,
  start: (context) => disposeSubscriptions(new CronJobController(context).subscriptions),
}

class CronJobController {
  readonly #context: ControllerContext
  readonly #cronJobs: Informer<CronJob>
  readonly #jobs: Informer<Job>
  readonly #jobsByController: ObjectIndex<Job>
  readonly #queue: WorkQueue<string>
  readonly #events: ObjectEvents<CronJob>
  /** Written cron jobs that the informer may not have delivered yet, keyed by the version that was read. */
  readonly #written = new WeakMap<ReadonlyCronJob, CronJob>()
  readonly subscriptions: readonly (() => void)[]

  constructor(context: ControllerContext) {
    const { informers, rateLimit } = context
    this.#context = context
    this.#events = new ObjectEvents(context, cronJobs, 'cronjob-controller')
    this.#cronJobs = informers.of(cronJobs)
    this.#jobs = informers.of(jobs)
    this.#jobsByController = informers.index(jobs, 'controller', byController)
    this.#queue = context.queue<string>({ sync: (key) => this.#sync(key), rateLimit })
    const enqueue = (cronJob: ReadonlyCronJob) => this.#queue.add(queueKey(cronJob))
    const enqueueOwner = ({ metadata: { namespace = '', ownerReferences } }: ReadonlyJob) => {
      const owner = controllerOf(ownerReferences)
      if (owner?.kind === cronJobs.kind) this.#queue.add(`${namespace}/${owner.name}`)
    }
    this.subscriptions = [
      this.#cronJobs.on({ added: enqueue, updated: (cronJob, previous) => this.#updated(cronJob, previous) }),
      this.#jobs.on({ added: enqueueOwner, updated: enqueueOwner, deleted: enqueueOwner }),
    ]
  }

  /** A new schedule takes effect at its next time: past times of it are not made up for. */
  #updated(cronJob: ReadonlyCronJob, previous: ReadonlyCronJob): void {
    const { schedule, timeZone } = cronJob.spec ?? {}
    if (schedule === previous.spec?.schedule && timeZone === previous.spec?.timeZone) {
      this.#queue.add(queueKey(cronJob))
      return
    }
    const parsed = scheduleOf(cronJob)
    const delayMs = parsed === undefined ? undefined : delayUntilNext(cronJob, parsed, this.#context.clock.now())
    if (parsed !== undefined) this.#queue.addAfter(queueKey(cronJob), delayMs ?? 0)
  }

  async #sync(key: string): Promise<RequeueAfter | undefined> {
    if (!this.#jobs.hasSynced) await this.#jobs.synced
    const { namespace, name } = splitKey(key)
    const known = this.#cronJobs.get(name, namespace)
    if (known === undefined) return undefined
    // The due job and the delay of the next sync use the same clock reading. With two readings, a scheduled time between
    // them would be missed.
    const nowMs = this.#context.clock.now()
    const cronJob = this.#written.get(known) ?? known
    const owned = this.#jobsByController.get(cronJob.metadata.uid ?? '')
    const deleted = new Set<string | undefined>()
    let failure = await this.#deleteOld(cronJob, owned, deleted)
    const status = await this.#observe(cronJob, owned, deleted)
    let delayMs: number | undefined
    if (cronJob.metadata.deletionTimestamp === undefined && cronJob.spec?.suspend !== true) {
      const schedule = scheduleOf(cronJob)
      try {
        if (schedule !== undefined) await this.#runDue(cronJob, schedule, { status, nowMs })
      } catch (error) {
        failure = error
      }
      if (schedule !== undefined) delayMs = delayUntilNext({ ...cronJob, status }, schedule, nowMs)
    }
    const written = await this.#writeStatus(cronJob, status)
    if (written !== undefined) this.#written.set(known, written)
    if (failure !== undefined) throw failure
    return delayMs === undefined ? undefined : { requeueAfterMs: delayMs }
  }

  /** Returns the status whose active list omits jobs that ended, no longer exist, or were just deleted. */
  async #observe(
    cronJob: ReadonlyCronJob,
    owned: readonly ReadonlyJob[],
    deleted: ReadonlySet<string | undefined>,
  ): Promise<CronJobStatus> {
    const { client, signal } = this.#context
    const { active: before = [], ...status } = (cronJob.status ?? {}) as CronJobStatus
    const byUid = new Map(owned.map((job) => [job.metadata.uid, job]))
    const active: CronJobStatus['active'] = []
    for (const job of owned) {
      const { name, uid } = job.metadata
      if (terminalCondition(job) !== undefined || before.some((each) => each.uid === uid)) continue
      const message = `Saw a job that the controller did not create or forgot: ${name}`
      this.#events.warning(cronJob, 'UnexpectedJob', message)
    }
    for (const reference of before) {
      const { name = '', namespace = '', uid } = reference
      if (deleted.has(uid)) continue
      // The informer may not have delivered a new job yet.
      const job = byUid.get(uid) ?? (await ignoreNotFound(client.get(jobs, name, { namespace, signal })))
      const end = job?.metadata.uid === uid ? terminalCondition(job as ReadonlyJob) : undefined
      if (job?.metadata.uid !== uid) this.#events.normal(cronJob, 'MissingJob', `Active job went missing: ${name}`)
      else if (end === undefined) active.push(reference)
      else this.#events.normal(cronJob, 'SawCompletedJob', `Saw completed job: ${name}, condition: ${end.type}`)
    }
    let last = status.lastSuccessfulTime
    for (const job of owned) {
      const { completionTime } = job.status ?? {}
      if (completionTime === undefined || terminalCondition(job)?.type !== 'Complete') continue
      if (last === undefined || parseTime(completionTime) > parseTime(last)) last = completionTime
    }
    return {
      ...status,
      ...(active.length === 0 ? {} : { active }),
      ...(last === undefined ? {} : { lastSuccessfulTime: last }),
    }
  }

  /** Creates the job of the latest missed time if the concurrency policy allows it. Mutates `status`. */
  async #runDue(
    cronJob: ReadonlyCronJob,
    schedule: Schedule,
    { status, nowMs: now }: { readonly status: CronJobStatus; readonly nowMs: number },
  ): Promise<void> {
    const { dueMs: due, isInvalid, isOftenMissed } = dueTime(cronJob, schedule, now)
    const { startingDeadlineSeconds, concurrencyPolicy } = cronJob.spec ?? {}
    if (isInvalid) {
      const problem = 'time difference between two schedules is less than 1 second'
      this.#events.warning(cronJob, 'InvalidSchedule', `invalid schedule: ${cronJob.spec?.schedule} : ${problem}`)
    }
    if (due === undefined) return
    if (isOftenMissed) {
      const advice = 'Set or decrease .spec.startingDeadlineSeconds or check clock skew'
      this.#events.warning(cronJob, 'TooManyMissedTimes', `too many missed start times. ${advice}`)
    }
    if (startingDeadlineSeconds != null && due + startingDeadlineSeconds * 1000 < now) {
      const time = new Date(due).toUTCString().replace('GMT', '+0000')
      this.#events.warning(cronJob, 'MissSchedule', `Missed scheduled time to start a job: ${time}`)
      return
    }
    const { active = [] } = status
    const isDone = status.lastScheduleTime !== undefined && parseTime(status.lastScheduleTime) === due
    if (isDone || active.some(({ name }) => name === jobName(cronJob, due))) return
    if (concurrencyPolicy === 'Forbid' && active.length > 0) {
      const message = 'Not starting job because prior execution is running and concurrency policy is Forbid'
      this.#events.normal(cronJob, 'JobAlreadyActive', message)
      return
    }
    if (concurrencyPolicy === 'Replace') {
      for (const { name = '', namespace = '' } of active) await this.#deleteJob(cronJob, name, namespace)
      delete status.active
    }
    const created = await this.#createJob(cronJob, due)
    if (created === undefined) return
    status.active = [...(status.active ?? []), referenceTo(created)]
    status.lastScheduleTime = formatTime(due)
  }

  /** @returns the job of the scheduled time; undefined when another owner has a job of that name */
  async #createJob(cronJob: ReadonlyCronJob, due: number): Promise<Job | undefined> {
    const { client, fieldManager, profile, signal } = this.#context
    const job = await jobOf(cronJob, due, profile)
    try {
      const created = await client.create(jobs, job, { fieldManager, signal })
      this.#events.normal(cronJob, 'SuccessfulCreate', `Created job ${created.metadata.name}`)
      return created
    } catch (error) {
      if (!(ApiError.is(error) && error.reason === 'AlreadyExists')) {
        if (!isNamespaceTerminating(error)) {
          this.#events.warning(cronJob, 'FailedCreate', `Error creating job: ${errorText(error)}`)
        }
        throw error
      }
      const { name = '', namespace = '' } = job.metadata
      const other = await client.get(jobs, name, { namespace, signal })
      return controllerOf(other.metadata.ownerReferences)?.uid === cronJob.metadata.uid ? other : undefined
    }
  }

  /**
   * Deletes the oldest ended jobs beyond the history limits, and adds their uids to `deleted`. @returns the last failure; a
   * failure does not stop the other deletions
   */
  async #deleteOld(cronJob: ReadonlyCronJob, owned: readonly ReadonlyJob[], deleted: Set<string | undefined>): Promise<unknown> {
    const { spec } = cronJob
    let failure: unknown
    const limits = [
      ['Complete', spec?.successfulJobsHistoryLimit],
      ['Failed', spec?.failedJobsHistoryLimit],
    ] as const
    for (const [type, limit] of limits) {
      if (limit == null) continue
      const ended = owned.filter((job) => terminalCondition(job)?.type === type).sort(byStart)
      for (const { metadata } of ended.slice(0, Math.max(0, ended.length - limit))) {
        if (metadata.deletionTimestamp !== undefined) continue
        try {
          await this.#deleteJob(cronJob, metadata.name ?? '', metadata.namespace ?? '')
          deleted.add(metadata.uid)
        } catch (error) {
          failure = error
        }
      }
    }
    return failure
  }

  async #deleteJob(cronJob: ReadonlyCronJob, name: string, namespace: string): Promise<void> {
    const { client, signal } = this.#context
    try {
      await ignoreNotFound(client.delete(jobs, name, { namespace, propagationPolicy: 'Background', signal }))
    } catch (error) {
      this.#events.warning(cronJob, 'FailedDelete', `Deleted job: ${errorText(error)}`)
      throw error
    }
    this.#events.normal(cronJob, 'SuccessfulDelete', `Deleted job ${name}`)
  }

  /**
   * Writes the status against the version that was read. A conflicting change causes another sync.
   *
   * @returns the written object; undefined for no change
   */
  async #writeStatus(cronJob: ReadonlyCronJob, status: CronJobStatus): Promise<CronJob | undefined> {
    if (sameJson(cronJob.status ?? {}, status)) return undefined
    const { client, fieldManager, signal } = this.#context
    const changed = { ...(cronJob as CronJob), status }
    const request = client.update(cronJobs, changed, { subresource: 'status', fieldManager, signal })
    return ignoreReasons(request, ['NotFound', 'Conflict'])
  }
}

function scheduleOf({ spec }: ReadonlyCronJob): Schedule | undefined {
  return parseSchedule(spec?.schedule ?? '', spec?.timeZone ?? 'UTC')
}

function byStart(a: ReadonlyJob, b: ReadonlyJob): number {
  const start = ({ status }: ReadonlyJob) =>
    status?.startTime === undefined ? Number.POSITIVE_INFINITY : parseTime(status.startTime)
  const [first, second] = [start(a), start(b)]
  return first === second ? (a.metadata.name ?? '').localeCompare(b.metadata.name ?? '') : first - second
}
