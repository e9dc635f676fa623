import type { Random } from '@krmkit/meta'
import type { RecordedEvent } from '../events/event-recorder.ts'
import { behaviorOf } from './behavior.ts'
import { ContainerRun } from './container-run.ts'
import type { MatchedBehavior } from './interfaces.ts'
import type { ReadonlyPod } from './objects.ts'

export interface PodRuntimeOptions {
  readonly behaviors: readonly MatchedBehavior[]
  readonly random: Random
  readonly podIP: string
  readonly hostIP: string
  readonly nowMs: number
}

/** A pod on a simulated node: its containers in the order in which they start. */
export class PodRuntime {
  readonly podIP: string
  readonly hostIP: string
  readonly startedAtMs: number
  readonly init: readonly (ContainerRun & { readonly isSidecar?: boolean })[]
  readonly containers: readonly ContainerRun[]
  /** Names of the init containers that keep running. */
  readonly sidecars: ReadonlySet<string>
  /** Events to record, in order. */
  events: RecordedEvent[] = []
  #stopAtMs: number | undefined
  #isKilled = false
  #hasBegun = false
  isStopped = false

  constructor(pod: ReadonlyPod, options: PodRuntimeOptions) {
    const { behaviors, random, podIP, hostIP, nowMs } = options
    const { name = '', namespace = '', uid = '' } = pod.metadata
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
    if (initContainers.length > 0) for (const container of this.containers) container.hold('PodInitializing')
    if (initContainers.length > 0) for (const container of this.init) container.hold('PodInitializing')
  }

  /** Takes over a pod that an earlier simulation started. */
  restore({ status }: ReadonlyPod): void {
    this.#hasBegun = true
    const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
    for (const run of this.all) {
      const found = statuses.find(({ name }) => name === run.name)
      if (found !== undefined) run.restore(found)
    }
  }

  get all(): readonly ContainerRun[] {
    return [...this.init, ...this.containers]
  }

  /** Whether all init containers have done their part. */
  get isInitialized(): boolean {
    return this.init.every((run) => (this.sidecars.has(run.name) ? run.isRunning || run.restarts > 0 : run.exitCode === 0))
  }

  /** Moves the pod to where it is at a time. @returns when it changes next by itself */
  advance(pod: ReadonlyPod, nowMs: number): number | undefined {
    if (this.isStopped) return undefined
    if (pod.metadata.deletionTimestamp !== undefined) return this.#terminate(pod, nowMs)
    // The first step only shows that the containers are being created.
    if (!this.#hasBegun) {
      this.#hasBegun = true
      return nowMs
    }
    const { restartPolicy = 'Always' } = pod.spec ?? {}
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

  /** Stops the containers within the grace period of the deletion. */
  #terminate(pod: ReadonlyPod, nowMs: number): number | undefined {
    const graceMs = (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1000
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
    this.isStopped = true
    return undefined
  }
}

/** A container may pass through several states at one moment: it starts, and exits at once. */
function advanceFully(run: ContainerRun, nowMs: number, mayRestart: (exitCode: number) => boolean): void {
  const before = run.isRunning
  run.advance(nowMs, mayRestart)
  if (!before && run.isRunning && run.behavior.exitAfterMs === 0) run.advance(nowMs, mayRestart)
}
