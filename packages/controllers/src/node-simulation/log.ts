import { formatTime, parseTime } from '@krmkit/meta'
import type { ContainerRun } from './container-run.ts'
import type { ContainerContext } from './interfaces.ts'
import type { ReadonlyPod } from './objects.ts'

export function containerContext(pod: ReadonlyPod, run: ContainerRun, nowMs: number): ContainerContext {
  return { pod, container: run.name, image: run.image, nowMs, restarts: run.restarts }
}

/** Returns the log of a container as the parameters of the kubelet select it. */
export function containerLog(
  pod: ReadonlyPod,
  run: ContainerRun,
  { searchParams, nowMs }: { readonly searchParams: URLSearchParams; readonly nowMs: number },
): string {
  const { logs = '' } = run.behavior
  const full = typeof logs === 'string' ? logs : logs(containerContext(pod, run, nowMs))
  if (isTooOld(run, searchParams, nowMs)) return ''
  const lines = full === '' ? [] : full.replace(/\n$/, '').split('\n')
  const tail = searchParams.get('tailLines')
  const kept = tail === null ? lines : lines.slice(Math.max(0, lines.length - Number(tail)))
  const prefix = searchParams.get('timestamps') === 'true' ? `${formatTime(run.startedAtMs)} ` : ''
  const selected = kept.map((line) => `${prefix}${line}\n`).join('')
  const limit = searchParams.get('limitBytes')
  return limit === null ? selected : Buffer.from(selected).subarray(0, Number(limit)).toString('utf8')
}

/** All lines are written when the container starts. */
function isTooOld({ startedAtMs }: ContainerRun, searchParams: URLSearchParams, nowMs: number): boolean {
  const seconds = searchParams.get('sinceSeconds')
  const time = searchParams.get('sinceTime')
  if (seconds !== null) return startedAtMs < nowMs - Number(seconds) * 1000
  return time !== null && startedAtMs < parseTime(time)
}
