import type { Controller } from '../interfaces.ts'
import { splitKey } from '../workloads/objects.ts'
import type { ContainerRun } from './container-run.ts'
import type { NodeSimulationOptions } from './interfaces.ts'
import { nodeAddresses, nodeTemplates } from './node-objects.ts'
import type { ReadonlyPod } from './objects.ts'
import { PodAdmission } from './pod-admission.ts'
import type { PodRuntime } from './pod-runtime.ts'
import { RunningSimulation, type SimulatedEntry, type SimulatedNode } from './running-simulation.ts'
import { checkSimulationOptions } from './simulation-options.ts'

/** A pod with its runtime, for requests to its kubelet. */
export interface SimulatedPod {
  readonly pod: ReadonlyPod
  readonly runtime: PodRuntime
}

/**
 * Nodes without machines: registers them, keeps their leases alive, and runs the pods that are bound to them.
 *
 * @example
 * import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
 * import { builtInControllers, NodeSimulation, runControllers } from '@krmkit/controllers'
 * const simulation = new NodeSimulation({ nodes: 3, behaviors: [{ match: { labels: { matchLabels: { app: 'slow' } } }, readyAfterMs: 5000 }] })
 * const available = [...builtInControllers, simulation.controller]
 * const client = createRemoteClient(await loadKubeconfig())
 * await using running = runControllers({ client, available, controllers: ['*', 'kube-scheduler'] })
 */
export class NodeSimulation {
  /** The controller to run. */
  readonly controller: Controller
  readonly #options: NodeSimulationOptions
  readonly #nodes = new Map<string, SimulatedNode>()
  readonly #entries = new Map<string, SimulatedEntry>()
  readonly #changed = new Set<() => void>()
  readonly #onHeartbeatsEnd = new Set<(node: string) => void>()
  #running: RunningSimulation | undefined

  /** @throws ControllersError `InvalidSimulation` with the path of the first unknown or invalid member */
  constructor(options: NodeSimulationOptions) {
    checkSimulationOptions(options)
    this.#options = options
    for (const [index, template] of nodeTemplates(options.nodes).entries()) {
      const addresses = nodeAddresses(index)
      const state = {
        usedNumbers: new Set<number>(),
        admission: new PodAdmission(),
        isFailed: false,
        isBeating: false,
        statusAtMs: Number.NEGATIVE_INFINITY,
      }
      this.#nodes.set(template.name, { template, index, addresses, ...state })
    }
    this.controller = {
      name: 'node-simulation',
      start: (context) => {
        this.#running = new RunningSimulation(context, { ...this.#shared(), options: this.#options })
        return this.#running
      },
    }
  }

  /** Names of the nodes. */
  get nodes(): readonly string[] {
    return [...this.#nodes.keys()]
  }

  /** Address of a node; undefined for one that is not simulated. */
  addressOf(node: string): string | undefined {
    return this.#nodes.get(node)?.addresses.hostIP
  }

  /** Current time on the clock of the simulation. */
  nowMs(): number {
    return this.#running?.nowMs() ?? 0
  }

  /** Waits on the clock of the simulation, or until the signal aborts. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    await this.#running?.wait(ms, signal)
  }

  /**
   * Fails a node: its heartbeats stop, its pods keep their state, and its kubelet is unreachable.
   *
   * @throws RangeError for a node that is not simulated
   */
  failNode(name: string): void {
    const node = this.#nodeNamed(name)
    node.isFailed = true
    this.#endHeartbeats(node)
  }

  /** Recovers a failed node. @throws RangeError for a node that is not simulated */
  recoverNode(name: string): void {
    const node = this.#nodeNamed(name)
    node.isFailed = false
    node.statusAtMs = Number.NEGATIVE_INFINITY
    this.#running?.recover(name)
  }

  /** Returns a pod if it runs on a node that has not failed. */
  find(namespace: string, name: string): SimulatedPod | undefined {
    const entry = this.#entries.get(`${namespace}/${name}`)
    const pod = entry === undefined || entry.node.isFailed ? undefined : this.#running?.podOf(namespace, name)
    return entry === undefined || pod === undefined ? undefined : { pod, runtime: entry.runtime }
  }

  /** Returns the pods of all nodes that have not failed. */
  *pods(): Generator<SimulatedPod> {
    for (const key of this.#entries.keys()) {
      const { namespace, name } = splitKey(key)
      const found = this.find(namespace, name)
      if (found !== undefined) yield found
    }
  }

  /** Whether the lease of a node is being renewed. */
  isBeating(node: string): boolean {
    return this.#nodes.get(node)?.isBeating ?? false
  }

  /** Calls back when the heartbeats of a node end: it failed, or its object was deleted. @returns a function that unsubscribes */
  onHeartbeatsEnd(listener: (node: string) => void): () => void {
    this.#onHeartbeatsEnd.add(listener)
    return () => this.#onHeartbeatsEnd.delete(listener)
  }

  isFailed(node: string): boolean {
    return this.#nodes.get(node)?.isFailed ?? true
  }

  /** Resolves when the current run of a container has ended, or the signal aborts. */
  ended(run: ContainerRun, signal: AbortSignal): Promise<void> {
    const { restarts } = run
    return this.#until(() => !run.isRunning || run.restarts !== restarts, signal)
  }

  /** Resolves when a pod has been stopped, or the signal aborts. */
  stopped(runtime: PodRuntime, signal: AbortSignal): Promise<void> {
    return this.#until(() => runtime.isStopped, signal)
  }

  /** Waits until the condition holds, checking it whenever a pod changes. */
  async #until(isOver: () => boolean, signal: AbortSignal): Promise<void> {
    while (!isOver() && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const done = () => {
          this.#changed.delete(done)
          signal.removeEventListener('abort', done)
          resolve()
        }
        this.#changed.add(done)
        signal.addEventListener('abort', done, { once: true })
      })
    }
  }

  #nodeNamed(name: string): SimulatedNode {
    const node = this.#nodes.get(name)
    if (node !== undefined) return node
    throw new RangeError(`node ${JSON.stringify(name)} is not simulated; simulated: ${this.nodes.join(', ')}`)
  }

  #endHeartbeats(node: SimulatedNode): void {
    if (!node.isBeating) return
    node.isBeating = false
    for (const listener of this.#onHeartbeatsEnd) listener(node.template.name)
  }

  #shared() {
    const notify = () => {
      for (const done of [...this.#changed]) done()
    }
    const endHeartbeats = (node: SimulatedNode) => this.#endHeartbeats(node)
    return { nodes: this.#nodes, entries: this.#entries, notify, endHeartbeats }
  }
}
