import type { DeepReadonly } from '@krmkit/meta'
import { sameJson } from '../framework/same-json.ts'
import type { Container } from '../workloads/objects.ts'
import type { ContainerRun } from './container-run.ts'
import type { ReadonlyPod } from './objects.ts'

/** The reason why a node does not allocate the requested resources of a pod. */
export interface ResizeObstacle {
  readonly reason: 'Deferred' | 'Infeasible'
  readonly message: string
}

/** A condition of a pod whose resources change. */
export interface ResizeCondition {
  readonly type: (typeof resizeConditionTypes)[number]
  readonly reason?: string
  readonly message?: string
}

export const resizeConditionTypes = ['PodResizePending', 'PodResizeInProgress'] as const

type ReadonlyContainer = DeepReadonly<Container>

/** Time until allocated resources are in effect. */
const actuationMs = 1000
const resizable = ['cpu', 'memory'] as const

/**
 * Changes the resources of the containers of a running pod.
 *
 *     spec changed --node has room--> allocated (PodResizeInProgress) --1 s--> actual
 *                  \--too large for the node--> PodResizePending, Infeasible
 *                  \--no room now--> PodResizePending, Deferred --another pod ends--> allocated
 */
export class PodResize {
  readonly #runs: readonly ContainerRun[]
  #obstacle: ResizeObstacle | undefined
  #actuateAtMs: number | undefined

  /** @param runs the containers and sidecars of the pod */
  constructor(runs: readonly ContainerRun[]) {
    this.#runs = runs
  }

  /** Whether the resize waits until the node has room. */
  get isDeferred(): boolean {
    return this.#obstacle?.reason === 'Deferred'
  }

  get conditions(): readonly ResizeCondition[] {
    const pending = this.#obstacle === undefined ? [] : [{ type: resizeConditionTypes[0], ...this.#obstacle }]
    return this.#actuateAtMs === undefined ? pending : [...pending, { type: resizeConditionTypes[1] }]
  }

  /**
   * Advances the resize to its state at `nowMs`.
   *
   * @param allocate allocates the resources on the node, or returns the obstacle
   * @returns time of the next change without external input
   */
  advance(pod: ReadonlyPod, nowMs: number, allocate: () => ResizeObstacle | undefined): number | undefined {
    const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]
    const byName = new Map(containers.map((container) => [container.name, container]))
    const changed = this.#runs.filter((run) => !hasResources(byName.get(run.name), run))
    this.#obstacle = changed.length === 0 ? undefined : allocate()
    if (this.#obstacle === undefined) for (const run of changed) run.allocate(byName.get(run.name)?.resources ?? {})
    const behind = this.#runs.filter((run) => run.isRunning && !sameJson(run.actual, run.allocated))
    if (behind.length === 0) this.#actuateAtMs = undefined
    else if (this.#actuateAtMs === undefined) this.#actuateAtMs = nowMs + actuationMs
    else if (nowMs >= this.#actuateAtMs) {
      for (const run of behind) run.actuate(nowMs, needsRestart(byName.get(run.name), run))
      this.#actuateAtMs = undefined
    }
    return this.#actuateAtMs
  }

  /** Called when the pod has ended. */
  end(): void {
    this.#obstacle = undefined
    this.#actuateAtMs = undefined
  }
}

function hasResources(container: ReadonlyContainer | undefined, { allocated }: ContainerRun): boolean {
  return container === undefined || sameJson(container.resources ?? {}, allocated)
}

/** Whether the resize policy of a changed resource requires a restart of the container. */
function needsRestart(container: ReadonlyContainer | undefined, { actual, allocated }: ContainerRun): boolean {
  const isChanged = (name: string) =>
    actual.requests?.[name] !== allocated.requests?.[name] || actual.limits?.[name] !== allocated.limits?.[name]
  const policies = container?.resizePolicy ?? []
  return resizable.some(
    (name) =>
      isChanged(name) &&
      policies.some(({ resourceName, restartPolicy }) => resourceName === name && restartPolicy === 'RestartContainer'),
  )
}
