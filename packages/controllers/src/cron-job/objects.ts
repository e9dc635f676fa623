import { resourceType } from '@krmkit/client'
import { type ApiObject, type DeepReadonly, formatTime, type NamingProfile, type ObjectMeta, parseTime } from '@krmkit/meta'
import type { Job, JobSpec, ReadonlyJob } from '../job/objects.ts'
import { controllerReference } from '../workloads/claims.ts'
import { mergeMaps } from '../workloads/merge-maps.ts'
import { offsetMs } from './time-zone.ts'

/** The parts of cron jobs that the controller reads and writes, and their jobs. */

export interface JobReference {
  apiVersion?: string
  kind?: string
  name?: string
  namespace?: string
  uid?: string
  resourceVersion?: string
}

export interface CronJobStatus {
  active?: JobReference[]
  lastScheduleTime?: string
  lastSuccessfulTime?: string
}

export interface CronJob extends ApiObject {
  spec?: {
    schedule?: string
    timeZone?: string | null
    startingDeadlineSeconds?: number | null
    concurrencyPolicy?: string
    suspend?: boolean
    jobTemplate?: { metadata?: Partial<ObjectMeta>; spec?: JobSpec }
    successfulJobsHistoryLimit?: number | null
    failedJobsHistoryLimit?: number | null
  }
  status?: CronJobStatus
}

export type ReadonlyCronJob = DeepReadonly<CronJob>

export const cronJobs = resourceType<CronJob>({ group: 'batch', version: 'v1', resource: 'cronjobs', kind: 'CronJob' })

/**
 * Returns the name of the job of a scheduled time. The name is the same on every attempt, so that only one job is created
 * for each time.
 */
export function jobName({ metadata }: ReadonlyCronJob, scheduledMs: number): string {
  return `${metadata.name}-${Math.floor(scheduledMs / 60_000)}`
}

/** Builds the job of a scheduled time. The job shares parts with the template; do not mutate it. */
export async function jobOf(cronJob: ReadonlyCronJob, scheduledMs: number, { domain }: NamingProfile): Promise<Job> {
  const { jobTemplate = {}, timeZone } = cronJob.spec ?? {}
  const { labels, annotations } = jobTemplate.metadata ?? {}
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: jobName(cronJob, scheduledMs),
      namespace: cronJob.metadata.namespace ?? '',
      ...(labels === undefined ? {} : { labels }),
      annotations: await mergeMaps(annotations, {
        [`batch.${domain}/cronjob-scheduled-timestamp`]: zonedTime(scheduledMs, timeZone ?? 'UTC'),
      }),
      ownerReferences: [controllerReference(cronJob, cronJobs)],
    },
    spec: (jobTemplate.spec ?? {}) as JobSpec,
  }
}

export function referenceTo({ metadata }: ReadonlyJob): JobReference {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = metadata
  return { apiVersion: 'batch/v1', kind: 'Job', name, namespace, uid, resourceVersion }
}

/** Formats a time with the offset of its zone: `2024-01-01T09:00:00+01:00`. */
function zonedTime(ms: number, zone: string): string {
  const minutes = Math.round((offsetMs(ms, zone) ?? 0) / 60_000)
  if (minutes === 0) return formatTime(ms)
  const digits = (value: number) => String(value).padStart(2, '0')
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `${formatTime(ms + minutes * 60_000).slice(0, -1)}${minutes < 0 ? '-' : '+'}${digits(hours)}:${digits(rest)}`
}

/** Returns the last scheduled time, or else the creation time, in milliseconds since the epoch. */
export function scheduledSince({ metadata, status }: ReadonlyCronJob): number {
  const text = status?.lastScheduleTime ?? metadata.creationTimestamp
  return text == null ? 0 : parseTime(text)
}
