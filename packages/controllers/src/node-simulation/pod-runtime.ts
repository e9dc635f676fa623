import { parseTime, type Random } from '@krmkit/meta'
import type { RecordedEvent } from '../events/event-recorder.ts'
import { annotationProblems, behaviorOf } from './behavior.ts'
import { ContainerRun } from './container-run.ts'
import type { MatchedBehavior } from './interfaces.ts'
import { containerContext } from './log.ts'
import type { ReadonlyPod } from './objects.ts'
import { PodResize } from './pod-resize.ts'

export interface PodRuntimeOptions {
  readonly behaviors: readonly MatchedBehavior[]
  readonly random: Random
  readonly podIP: string
  readonly hostIP: string
  readonly nowMs: number
}

/** Reason and message of a pod that exceeded its active deadline. */
export const deadlineExceeded = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
} as const

const defaultGraceSeconds = 30

/** A pod on a simulated node: its containers in the order in which they start. */
export class PodRuntime {
  readonly podIP: string
  readonly hostIP: string
  startedAtMs: number
  readonly init: readonly (ContainerRun & { readonly isSidecar?: boolean })[]
  readonly containers: readonly ContainerRun[]
  /** Names of the sidecars: init containers that keep running. */
  readonly sidecars: ReadonlySet<string>
  readonly resize: PodResize
  readonly #behaviors: readonly MatchedBehavior[]
  /** Events to record, in order. */
  events: RecordedEvent[] = []
  #stopAtMs: number | undefined
  #isKilled = false
  #hasBegun = false
  isStopped = false
  /** Whether the pod exceeded its active deadline and its containers have stopped. */
  hasExceededDeadline = false

  constructor(pod: ReadonlyPod, options: PodRuntimeOptions) {
    const { behaviors, random, podIP, hostIP, nowMs } = options
    const { name = '', namespace = '', uid = '' } = pod.metadata
    this.#behaviors = behaviors
    this.podIP = podIP
    this.hostIP = hostIP
    this.startedAtMs = nowMs
    const podText = `${name}_${namespace}(${uid})`
    const note = (event: RecordedEvent) => this.events.push(event)
    const { initContainers = [], containers = [] } = pod.spec ?? {}
    const run = (list: typeof containers, fieldPath: string) =>
      list.map(
        (container) => new ContainerRun(container, behaviorOf(pod, container, behaviors), { random, podText, fieldPath, note }),
      )
    this.init = run(initContainers, 'spec.initContainers')
    this.containers = run(containers, 'spec.containers')
    this.sidecars = new Set(initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always').map((each) => each.name))
    this.resize = new PodResize([...this.init.filter(({ name }) => this.sidecars.has(name)), ...this.containers])
    if (initContainers.length > 0) for (const container of this.containers) container.hold('PodInitializing')
    if (initContainers.length > 0) for (const container of this.init) container.hold('PodInitializing')
  }

  /** Restores the state of a pod from a status that an earlier simulation wrote. */
  restore({ status }: ReadonlyPod): void {
    this.#hasBegun = true
    if (status?.startTime !== undefined) this.startedAtMs = parseTime(status.startTime)
    this.hasExceededDeadline = status?.phase === 'Failed' && status.reason === deadlineExceeded.reason
    const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
    for (const run of this.all) {
      const found = statuses.find(({ name }) => name === run.name)
      if (found !== undefined) run.restore(found)
    }
  }

  get all(): readonly ContainerRun[] {
    return [...this.init, ...this.containers]
  }

  /** Whether all init containers have completed, and all sidecars have started. */
  get isInitialized(): boolean {
    return this.init.every((run) => (this.sidecars.has(run.name) ? run.isRunning || run.restarts > 0 : run.exitCode === 0))
  }

  /** Advances the pod to its state at `nowMs`. @returns time of the next change without external input */
  advance(pod: ReadonlyPod, nowMs: number): number | undefined {
    if (this.isStopped) return undefined
    if (pod.metadata.deletionTimestamp !== undefined) return this.#terminate(pod, nowMs)
    if (this.hasExceededDeadline) return undefined
    // The first call only reports ContainerCreating.
    if (!this.#hasBegun) {
      this.#hasBegun = true
      for (const message of annotationProblems(pod)) this.events.push({ type: 'Warning', reason: 'InvalidAnnotation', message })
      return nowMs
    }
    this.#replaceImages(pod, nowMs)
    const { restartPolicy = 'Always', activeDeadlineSeconds } = pod.spec ?? {}
    const isFinished = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
    if (activeDeadlineSeconds === undefined || isFinished) return this.#run(restartPolicy, nowMs)
    const deadlineMs = this.startedAtMs + activeDeadlineSeconds * 1000
    if (nowMs >= deadlineMs) return this.#exceedDeadline(pod, nowMs)
    return Math.min(this.#run(restartPolicy, nowMs) ?? deadlineMs, deadlineMs)
  }

  /** Sends the probes of running containers that are due. @returns whether a probe was sent */
  async probe(pod: ReadonlyPod, nowMs: number): Promise<boolean> {
    if (pod.metadata.deletionTimestamp !== undefined || this.hasExceededDeadline) return false
    const graceMs = graceMsOf(pod)
    let wasSent = false
    for (const run of this.all) if (await run.probe(containerContext(pod, run, nowMs), graceMs)) wasSent = true
    return wasSent
  }

  /** Applies changed images, the only container field that an update may change. `#runs` has the order of the containers. */
  #replaceImages(pod: ReadonlyPod, nowMs: number): void {
    const { initContainers = [], containers = [] } = pod.spec ?? {}
    for (const [index, run] of this.all.entries()) {
      const container = index < this.init.length ? initContainers[index] : containers[index - this.init.length]
      if (container === undefined || run.nextImage === (container.image ?? '')) continue
      run.replace({ container, behavior: behaviorOf(pod, container, this.#behaviors) }, nowMs, graceMsOf(pod))
    }
  }

  #run(restartPolicy: string, nowMs: number): number | undefined {
    const mayRestart = (exitCode: number) => restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && exitCode !== 0)
    for (const run of this.init) {
      const isSidecar = this.sidecars.has(run.name)
      const restarts = isSidecar ? () => true : (exitCode: number) => restartPolicy !== 'Never' && exitCode !== 0
      advanceFully(run, nowMs, restarts)
      if (isSidecar ? !run.isRunning && run.restarts === 0 : run.exitCode !== 0) return this.#nextAtMs(nowMs)
    }
    for (const run of this.containers) advanceFully(run, nowMs, mayRestart)
    if (this.containers.every((run) => run.exitCode !== undefined && !mayRestart(run.exitCode)))
      for (const run of this.init) run.stop(nowMs, false)
    return this.#nextAtMs(nowMs)
  }

  #nextAtMs(nowMs: number): number | undefined {
    const next = this.all.flatMap((run) => run.nextAtMs ?? []).filter((atMs) => atMs > nowMs)
    return next.length === 0 ? undefined : Math.min(...next)
  }

  /** Ends all containers at once, after the pod was deleted. */
  kill(nowMs: number): void {
    for (const run of this.all) run.stop(nowMs, true)
    this.isStopped = true
  }

  /** Stops the containers within the grace period of the deletion. */
  #terminate(pod: ReadonlyPod, nowMs: number): number | undefined {
    const stopAtMs = this.#stop(nowMs, (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1000)
    this.isStopped = stopAtMs === undefined
    return stopAtMs
  }

  #exceedDeadline(pod: ReadonlyPod, nowMs: number): number | undefined {
    if (this.#stopAtMs === undefined) this.events.push({ type: 'Normal', ...deadlineExceeded })
    const stopAtMs = this.#stop(nowMs, graceMsOf(pod))
    this.hasExceededDeadline = stopAtMs === undefined
    return stopAtMs
  }

  /** Stops the containers. @returns the time at which they will have stopped; undefined when they have stopped */
  #stop(nowMs: number, graceMs: number): number | undefined {
    const running = this.all.filter((run) => run.isRunning)
    if (this.#stopAtMs === undefined) {
      for (const run of running) {
        const fieldPath = `spec.${this.init.includes(run) ? 'initContainers' : 'containers'}{${run.name}}`
        this.events.push({ type: 'Normal', reason: 'Killing', message: `Stopping container ${run.name}`, fieldPath })
      }
    }
    const stopMs = Math.max(0, ...running.map(({ behavior }) => behavior.stopAfterMs ?? 0))
    this.#isKilled = stopMs > graceMs
    this.#stopAtMs = Math.min(this.#stopAtMs ?? Number.POSITIVE_INFINITY, nowMs + Math.min(stopMs, graceMs))
    if (nowMs < this.#stopAtMs) return this.#stopAtMs
    for (const run of this.all) run.stop(nowMs, this.#isKilled)
    return undefined
  }
}

function graceMsOf({ spec }: ReadonlyPod): number {
  return (spec?.terminationGracePeriodSeconds ?? defaultGraceSeconds) * 1000
}

/** Advances a container until its state is stable, because it may start and exit at the same time. */
function advanceFully(run: ContainerRun, nowMs: number, mayRestart: (exitCode: number) => boolean): void {
  const before = run.isRunning
  run.advance(nowMs, mayRestart)
  if (!before && run.isRunning && run.behavior.exitAfterMs === 0) run.advance(nowMs, mayRestart)
}
