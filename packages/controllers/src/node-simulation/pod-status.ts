import { formatTime } from '@krmkit/meta'
import type { PodCondition } from '../workloads/objects.ts'
import type { ContainerRun } from './container-run.ts'
import type { PodStatus, ReadonlyPod } from './objects.ts'
import { resizeConditionTypes } from './pod-resize.ts'
import { deadlineExceeded, type PodRuntime } from './pod-runtime.ts'

/** Builds the status of a pod as a kubelet reports it. */

type Condition = Pick<PodCondition, 'type' | 'status'> & { readonly reason?: string; readonly message?: string }

/** A strategic merge patch of the status: null removes a member, a `$patch` directive removes a condition. */
export interface PodStatusPatch extends Omit<PodStatus, 'conditions'> {
  readonly conditions: readonly (ConditionPatch | { readonly type: string; readonly $patch: 'delete' })[]
}

type ConditionPatch = Omit<PodCondition, 'reason' | 'message'> & {
  readonly reason: string | null
  readonly message: string | null
}

export function podStatus(pod: ReadonlyPod, runtime: PodRuntime, nowMs: number): PodStatusPatch {
  const phase = phaseOf(pod, runtime)
  const { podIP, hostIP } = runtime
  const isCreated = runtime.all.some((run) => !run.isWaiting || run.restarts > 0)
  const addresses = isCreated || pod.spec?.hostNetwork === true ? { podIP, podIPs: [{ ip: podIP }] } : {}
  const initContainerStatuses = runtime.init.map((run) => run.status())
  for (const status of initContainerStatuses)
    if (!runtime.sidecars.has(status.name)) status.ready = status.state.terminated?.exitCode === 0
  return {
    phase,
    ...(runtime.hasExceededDeadline ? deadlineExceeded : {}),
    conditions: [
      ...withTimes(conditionsOf(pod, runtime, { phase, isCreated }), pod, nowMs),
      ...removedResizeConditions(pod, runtime),
    ],
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...addresses,
    startTime: formatTime(runtime.startedAtMs),
    ...(initContainerStatuses.length === 0 ? {} : { initContainerStatuses }),
    containerStatuses: runtime.containers.map((run) => run.status()),
  }
}

function phaseOf({ spec, status }: ReadonlyPod, runtime: PodRuntime): string {
  const { restartPolicy = 'Always' } = spec ?? {}
  const { containers, init, sidecars } = runtime
  if (runtime.hasExceededDeadline) return 'Failed'
  const hasFailed = (run: ContainerRun) => !sidecars.has(run.name) && (run.exitCode ?? 0) !== 0
  if (restartPolicy === 'Never' && init.some(hasFailed)) return 'Failed'
  const ended = containers.filter(({ exitCode }) => exitCode !== undefined)
  if (ended.length === containers.length) {
    const isSuccess = ended.every(({ exitCode }) => exitCode === 0)
    const isFinal = runtime.isStopped || restartPolicy === 'Never' || (restartPolicy === 'OnFailure' && isSuccess)
    if (isFinal) return isSuccess ? 'Succeeded' : 'Failed'
    return 'Running'
  }
  if (runtime.isStopped) return status?.phase ?? 'Pending'
  if (!runtime.isInitialized) return 'Pending'
  return containers.some((run) => run.isWaiting && run.lastExitCode === undefined) ? 'Pending' : 'Running'
}

function conditionsOf(
  pod: ReadonlyPod,
  runtime: PodRuntime,
  { phase, isCreated }: { readonly phase: string; readonly isCreated: boolean },
): Condition[] {
  const isDone = phase === 'Succeeded' || phase === 'Failed'
  const ready = containersReady(runtime, phase)
  return [
    { type: 'PodReadyToStartContainers', status: isCreated && !isDone && !runtime.isStopped ? 'True' : 'False' },
    initialized(runtime, phase),
    { type: 'Ready', ...(ready.status === 'True' ? gatesReady(pod) : ready) },
    { type: 'ContainersReady', ...ready },
    { type: 'PodScheduled', status: 'True' },
    ...(isDone ? [] : runtime.resize.conditions.map((condition) => ({ ...condition, status: 'True' }))),
  ]
}

/** Returns directives that remove the conditions of resizes that ended since the last status. */
function removedResizeConditions({ status }: ReadonlyPod, { resize }: PodRuntime) {
  const types: readonly string[] = resizeConditionTypes
  const isOver = (type: string) => types.includes(type) && !resize.conditions.some((condition) => condition.type === type)
  return (status?.conditions ?? []).flatMap(({ type }) => (isOver(type) ? [{ type, $patch: 'delete' as const }] : []))
}

function initialized(runtime: PodRuntime, phase: string): Condition {
  const type = 'Initialized'
  if (phase === 'Succeeded') return { type, status: 'True', reason: 'PodCompleted' }
  const { init, sidecars, containers } = runtime
  if (runtime.isInitialized || containers.some((run) => !run.isWaiting || run.restarts > 0)) return { type, status: 'True' }
  const names = init.filter((run) => (sidecars.has(run.name) ? !run.isRunning : run.exitCode !== 0)).map(({ name }) => name)
  const message = `containers with incomplete status: [${names.join(' ')}]`
  return { type, status: 'False', reason: 'ContainersNotInitialized', message }
}

function containersReady({ init, sidecars, containers }: PodRuntime, phase: string): Omit<Condition, 'type'> {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' }
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' }
  const counted = [...init.filter(({ name }) => sidecars.has(name)), ...containers]
  const names = counted.filter(({ ready }) => !ready).map(({ name }) => name)
  if (names.length === 0) return { status: 'True' }
  return { status: 'False', reason: 'ContainersNotReady', message: `containers with unready status: [${names.join(' ')}]` }
}

/** Evaluates the readiness gates of the pod. */
function gatesReady({ spec, status }: ReadonlyPod): Omit<Condition, 'type'> {
  const messages = (spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const found = status?.conditions?.find(({ type }) => type === conditionType)
    const gate = JSON.stringify(conditionType)
    if (found === undefined) return [`corresponding condition of pod readiness gate ${gate} does not exist.`]
    return found.status === 'True' ? [] : [`the status of pod readiness gate ${gate} is not "True", but ${found.status}`]
  })
  if (messages.length === 0) return { status: 'True' }
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') }
}

/** Removes the previous reason and message of a condition. */
const unexplained = { reason: null, message: null }

/** Sets transition times: unchanged conditions keep theirs. Conditions of other writers are not part of the patch. */
function withTimes(conditions: readonly Condition[], { status }: ReadonlyPod, nowMs: number): ConditionPatch[] {
  const time = formatTime(nowMs)
  return conditions.map((condition) => {
    const before = status?.conditions?.find(({ type }) => type === condition.type)
    const lastTransitionTime = before?.status === condition.status ? (before.lastTransitionTime ?? time) : time
    return { ...unexplained, ...condition, lastProbeTime: null, lastTransitionTime }
  })
}
