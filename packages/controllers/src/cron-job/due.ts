import { type ReadonlyCronJob, scheduledSince } from './objects.ts'
import type { Schedule } from './schedule.ts'

/** Computes when a cron job is due. Pure functions; times are milliseconds since the epoch. */

interface MostRecent {
  readonly sinceMs: number
  /** The latest scheduled time that has passed. */
  readonly dueMs: number | undefined
  readonly isMissed: boolean
  /** The schedule has no next time. */
  readonly isInvalid?: true
  /** More than 100 scheduled times were missed. */
  readonly isOftenMissed?: boolean
}

const manyMissed = 100

/**
 * Returns the latest scheduled time that has passed and was not processed. Earlier missed times are skipped, as are times
 * older than `startingDeadlineSeconds`.
 */
export function dueTime(
  cronJob: ReadonlyCronJob,
  schedule: Schedule,
  nowMs: number,
): Pick<MostRecent, 'dueMs' | 'isInvalid' | 'isOftenMissed'> {
  const deadline = cronJob.spec?.startingDeadlineSeconds
  const earliest = deadline == null ? Number.NEGATIVE_INFINITY : nowMs - deadline * 1000
  return mostRecent(Math.max(scheduledSince(cronJob), earliest), schedule, nowMs)
}

/** Returns the delay until the next scheduled time; undefined when there is none. */
export function delayUntilNext(cronJob: ReadonlyCronJob, schedule: Schedule, nowMs: number): number | undefined {
  const { sinceMs, dueMs, isMissed, isInvalid } = mostRecent(scheduledSince(cronJob), schedule, nowMs)
  const from = isInvalid || (dueMs === undefined && isMissed) ? nowMs : (dueMs ?? sinceMs)
  const next = schedule.next(from)
  return next === undefined ? undefined : next - nowMs
}

function mostRecent(sinceMs: number, schedule: Schedule, nowMs: number): MostRecent {
  const first = schedule.next(sinceMs)
  if (first === undefined) return { sinceMs, dueMs: undefined, isMissed: false, isInvalid: true }
  if (nowMs < first) return { sinceMs, dueMs: undefined, isMissed: false }
  const second = schedule.next(first)
  if (second === undefined || nowMs < second) return { sinceMs, dueMs: first, isMissed: false }
  // Skips most of the missed times by assuming that they are evenly spaced.
  const intervalMs = second - first
  const missed = Math.floor((nowMs - first) / intervalMs) + 1
  let dueMs: number | undefined
  let time = schedule.next(first + (missed - 2) * intervalMs)
  while (time !== undefined && time <= nowMs) {
    dueMs = time
    time = schedule.next(time)
  }
  return { sinceMs, dueMs, isMissed: true, isOftenMissed: missed > manyMissed }
}
