import { utf8Bytes, utf8Text } from '@krmkit/base/bytes'
import { formatTime, parseTime } from '@krmkit/meta'
import type { ContainerRun } from './container-run.ts'
import type { ContainerContext } from './interfaces.ts'
import type { ReadonlyPod } from './objects.ts'

export function containerContext(pod: ReadonlyPod, run: ContainerRun, nowMs: number): ContainerContext {
  return { pod, container: run.name, image: run.image, nowMs, restarts: run.restarts }
}

/** Returns the part of the log of a container that the query parameters select. */
export function containerLog(
  pod: ReadonlyPod,
  run: ContainerRun,
  { searchParams, nowMs }: { readonly searchParams: URLSearchParams; readonly nowMs: number },
): string {
  const { logs = '' } = run.behavior
  const { startedAtMs, context } = isPrevious(searchParams) ? previousRun(pod, run) : currentRun(pod, run, nowMs)
  const full = typeof logs === 'string' ? logs : logs(context)
  if (isTooOld(startedAtMs, searchParams, nowMs)) return ''
  const lines = full === '' ? [] : full.replace(/\n$/, '').split('\n')
  const tail = searchParams.get('tailLines')
  const kept = tail === null ? lines : lines.slice(Math.max(0, lines.length - Number(tail)))
  const prefix = searchParams.get('timestamps') === 'true' ? `${formatTime(startedAtMs)} ` : ''
  const selected = kept.map((line) => `${prefix}${line}\n`).join('')
  const limit = searchParams.get('limitBytes')
  return limit === null ? selected : utf8Text(utf8Bytes(selected).subarray(0, Number(limit)))
}

/** Whether the log of the run before the current one is requested. */
export function isPrevious(searchParams: URLSearchParams): boolean {
  return searchParams.get('previous') === 'true'
}

interface LoggedRun {
  readonly startedAtMs: number
  readonly context: ContainerContext
}

function currentRun(pod: ReadonlyPod, run: ContainerRun, nowMs: number): LoggedRun {
  return { startedAtMs: run.startedAtMs, context: containerContext(pod, run, nowMs) }
}

function previousRun(pod: ReadonlyPod, run: ContainerRun): LoggedRun {
  const { previous, isWaiting, restarts, startedAtMs } = run
  const ended = previous === undefined ? startedAtMs : parseTime(previous.finishedAt)
  const context = containerContext(pod, run, ended)
  // The restart count of a waiting container does not include its next run yet.
  const before = isWaiting ? restarts : Math.max(0, restarts - 1)
  return {
    startedAtMs: previous === undefined ? startedAtMs : parseTime(previous.startedAt),
    context: { ...context, restarts: before },
  }
}

/** Whether `sinceSeconds` or `sinceTime` exclude the log: all lines have the start time of the container. */
function isTooOld(startedAtMs: number, searchParams: URLSearchParams, nowMs: number): boolean {
  const seconds = searchParams.get('sinceSeconds')
  const time = searchParams.get('sinceTime')
  if (seconds !== null) return startedAtMs < nowMs - Number(seconds) * 1000
  return time !== null && startedAtMs < parseTime(time)
}
