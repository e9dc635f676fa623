import type { Informer } from '@krmkit/client'
import { ApiError, type DeepReadonly, type JsonObject } from '@krmkit/meta'
import { EventRecorder } from '../events/event-recorder.ts'
import { ignoreCreateConflict, ignoreNotFound } from '../framework/api-errors.ts'
import { sameJson } from '../framework/same-json.ts'
import type { RequeueAfter, WorkQueue } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { type Node, nodes, queueKey, splitKey } from '../workloads/objects.ts'
import { isFinished } from '../workloads/pod-state.ts'
import type { ContainerRun } from './container-run.ts'
import type { NodeSimulationOptions, NodeTemplate } from './interfaces.ts'
import { metricsApi } from './metrics-api.ts'
import { nodeAddresses, nodeConditions, nodeLease, nodeObject, nodeTemplates } from './node-objects.ts'
import { type Lease, leases, type Pod, type PodStatus, pods, type ReadonlyPod } from './objects.ts'
import { PodRuntime } from './pod-runtime.ts'
import { podStatus } from './pod-status.ts'

const defaultHeartbeatMs = 10_000
/** The status of a node is written at least this often. */
const statusMs = 5 * 60_000
const namespaceDefaults = 2

/** A pod with its runtime, for requests to its kubelet. */
export interface SimulatedPod {
  readonly pod: ReadonlyPod
  readonly runtime: PodRuntime
}

interface SimulatedNode {
  readonly template: NodeTemplate
  readonly index: number
  readonly addresses: ReturnType<typeof nodeAddresses>
  readonly usedNumbers: Set<number>
  isFailed: boolean
  statusAtMs: number
}

interface Entry {
  readonly uid: string
  readonly node: SimulatedNode
  readonly runtime: PodRuntime
  written: PodStatus | undefined
}

/**
 * Nodes without machines: registers them, keeps their leases alive, and moves the pods that are bound to them through their life.
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
  readonly #entries = new Map<string, Entry>()
  readonly #changed = new Set<() => void>()
  #running: RunningSimulation | undefined

  constructor(options: NodeSimulationOptions) {
    this.#options = options
    for (const [index, template] of nodeTemplates(options.nodes).entries()) {
      const addresses = nodeAddresses(index)
      const state = { usedNumbers: new Set<number>(), isFailed: false, statusAtMs: Number.NEGATIVE_INFINITY }
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

  /** Time of the clock with which the simulation runs. */
  nowMs(): number {
    return this.#running?.nowMs() ?? 0
  }

  /**
   * Fails a node: its heartbeats stop, its pods stay as they are, and its kubelet does not answer.
   *
   * @throws RangeError for a node that is not simulated
   */
  failNode(name: string): void {
    this.#nodeNamed(name).isFailed = true
  }

  /** Recovers a failed node. @throws RangeError for a node that is not simulated */
  recoverNode(name: string): void {
    const node = this.#nodeNamed(name)
    node.isFailed = false
    node.statusAtMs = Number.NEGATIVE_INFINITY
    this.#running?.recover(name)
  }

  /** Returns a pod that runs on a node which has not failed. */
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

  isFailed(node: string): boolean {
    return this.#nodes.get(node)?.isFailed ?? true
  }

  /** Resolves when a container does not run any more, or the signal aborts. */
  async ended(run: ContainerRun, signal: AbortSignal): Promise<void> {
    while (run.isRunning && !signal.aborted) {
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

  #shared() {
    const notify = () => {
      for (const done of [...this.#changed]) done()
    }
    return { nodes: this.#nodes, entries: this.#entries, notify }
  }
}

interface Shared {
  readonly options: NodeSimulationOptions
  readonly nodes: ReadonlyMap<string, SimulatedNode>
  readonly entries: Map<string, Entry>
  readonly notify: () => void
}

class RunningSimulation implements AsyncDisposable {
  readonly #context: ControllerContext
  readonly #shared: Shared
  readonly #pods: Informer<Pod>
  readonly #nodes: Informer<Node>
  readonly #leases: Informer<Lease>
  readonly #recorders = new Map<string, EventRecorder>()
  readonly #podQueue: WorkQueue<string>
  readonly #nodeQueue: WorkQueue<string>
  readonly #registered = new Set<string>()
  readonly #subscriptions: readonly (() => void)[]

  constructor(context: ControllerContext, shared: Shared) {
    const { informers, profile } = context
    this.#context = context
    this.#shared = shared
    this.#pods = informers.of(pods)
    this.#nodes = informers.of(nodes)
    this.#leases = informers.of(leases, { fieldSelector: `metadata.namespace=${profile.nodeLeaseNamespace}` })
    this.#podQueue = context.queue<string>({ sync: (key) => this.#syncPod(key) })
    this.#nodeQueue = context.queue<string>({ sync: (name) => this.#syncNode(name) })
    const enqueue = (pod: ReadonlyPod) => {
      if (shared.nodes.has(pod.spec?.nodeName ?? '') || shared.entries.has(queueKey(pod))) this.#podQueue.add(queueKey(pod))
    }
    this.#subscriptions = [this.#pods.on({ added: enqueue, updated: enqueue, deleted: enqueue })]
    for (const name of shared.nodes.keys()) {
      this.#recorders.set(name, new EventRecorder(context, { component: 'kubelet', host: name, api: 'core' }))
      this.#nodeQueue.add(name)
    }
    context.queue<string>({ sync: () => this.#registerMetrics() }).add('metrics')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const unsubscribe of this.#subscriptions) unsubscribe()
  }

  nowMs(): number {
    return this.#context.clock.now()
  }

  podOf(namespace: string, name: string): ReadonlyPod | undefined {
    return this.#pods.get(name, namespace)
  }

  recover(name: string): void {
    this.#nodeQueue.add(name)
    for (const [key, { node }] of this.#shared.entries) if (node.template.name === name) this.#podQueue.add(key)
  }

  /** Registers the API of `kubectl top`. */
  async #registerMetrics(): Promise<undefined> {
    const { client, profile, signal } = this.#context
    const { resource, object } = metricsApi(profile)
    await ignoreCreateConflict(client.create(resource, object, { signal }))
    return undefined
  }

  /** Registers a node once, and renews its lease and its status. */
  async #syncNode(name: string): Promise<RequeueAfter | undefined> {
    const { client, clock, profile, signal } = this.#context
    const state = this.#shared.nodes.get(name)
    if (state === undefined || state.isFailed) return undefined
    for (const informer of [this.#nodes, this.#leases]) if (!informer.hasSynced) await informer.synced
    const nowMs = clock.now()
    let node: Node | undefined = this.#nodes.get(name) as Node | undefined
    if (!this.#registered.has(name)) {
      if (node === undefined)
        await ignoreCreateConflict(client.create(nodes, nodeObject(state.template, { ...state, nowMs, profile })))
      node ??= await ignoreNotFound(client.get(nodes, name, { signal }))
      this.#registered.add(name)
      state.statusAtMs = nowMs
    }
    // A deleted node does not come back by itself.
    if (node === undefined) return undefined
    await this.#renewLease(name, node, nowMs)
    if (nowMs - state.statusAtMs >= statusMs) await this.#writeNodeStatus(name, state, nowMs)
    return { requeueAfterMs: this.#shared.options.heartbeatMs ?? defaultHeartbeatMs }
  }

  async #renewLease(name: string, owner: Node, nowMs: number): Promise<void> {
    const { client, profile, signal } = this.#context
    const lease = nodeLease(name, { nowMs, profile, owner })
    const namespace = profile.nodeLeaseNamespace
    const patch = { spec: lease.spec as JsonObject }
    const isKnown = this.#leases.get(name, namespace) !== undefined
    const renewed = isKnown
      ? await ignoreNotFound(client.patch(leases, name, { namespace, type: 'merge', patch, signal }))
      : undefined
    if (renewed === undefined) await ignoreCreateConflict(this.#createLease(lease))
  }

  /** The namespace of leases may not exist yet. */
  async #createLease(lease: Lease): Promise<void> {
    const { client, signal } = this.#context
    for (let tries = 0; ; tries++) {
      try {
        await client.create(leases, lease, { signal })
        return
      } catch (error) {
        if (!ApiError.is(error) || error.reason !== 'NotFound' || tries >= namespaceDefaults) throw error
        const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: lease.metadata.namespace ?? '' } }
        const resource = { group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace', namespaced: false }
        await ignoreCreateConflict(client.create(resource, namespace, { signal }))
      }
    }
  }

  async #writeNodeStatus(name: string, state: SimulatedNode, nowMs: number): Promise<void> {
    const { client, signal } = this.#context
    const before = this.#nodes.get(name)?.status?.conditions
    const conditions = nodeConditions(nowMs, before as Parameters<typeof nodeConditions>[1])
    const patch = { status: { conditions } } as unknown as JsonObject
    const options = { type: 'strategic', subresource: 'status', patch, signal } as const
    await ignoreNotFound(client.patch(nodes, name, options))
    state.statusAtMs = nowMs
  }

  async #syncPod(key: string): Promise<RequeueAfter | undefined> {
    if (!this.#pods.hasSynced) await this.#pods.synced
    const { namespace, name } = splitKey(key)
    const pod = this.#pods.get(name, namespace)
    const entry = this.#entryOf(key, pod)
    if (pod === undefined || entry === undefined || entry.node.isFailed) return undefined
    const { runtime } = entry
    const nowMs = this.#context.clock.now()
    const nextAtMs = runtime.advance(pod, nowMs)
    this.#shared.notify()
    const isOver = runtime.isStopped || isFinished(pod as Parameters<typeof isFinished>[0])
    if (!isOver || runtime.isStopped) await this.#writeStatus(pod, entry, nowMs)
    await this.#recordEvents(pod, entry)
    if (runtime.isStopped) await this.#finishDeletion(pod)
    return nextAtMs === undefined || isOver ? undefined : { requeueAfterMs: nextAtMs - nowMs }
  }

  /** Returns what runs for a pod; ends what ran for another pod of the name. */
  #entryOf(key: string, pod: ReadonlyPod | undefined): Entry | undefined {
    const { entries, nodes: known, options } = this.#shared
    const found = entries.get(key)
    if (found !== undefined && found.uid === pod?.metadata.uid) return found
    if (found !== undefined) {
      entries.delete(key)
      found.node.usedNumbers.delete(Number(found.runtime.podIP.split('.')[3]))
    }
    const node = known.get(pod?.spec?.nodeName ?? '')
    if (pod === undefined || node === undefined) return undefined
    const isRunning = pod.status?.podIP !== undefined
    const { random, clock } = this.#context
    const { hostIP } = node.addresses
    const podIP = pod.spec?.hostNetwork === true ? hostIP : (pod.status?.podIP ?? this.#nextIP(node))
    const nowMs = clock.now()
    const runtime = new PodRuntime(pod, { behaviors: options.behaviors ?? [], random, podIP, hostIP, nowMs })
    if (isRunning) {
      runtime.restore(pod)
      node.usedNumbers.add(Number(podIP.split('.')[3]))
    }
    const entry = { uid: pod.metadata.uid ?? '', node, runtime, written: undefined }
    entries.set(key, entry)
    return entry
  }

  #nextIP({ usedNumbers, addresses }: SimulatedNode): string {
    let number = 2
    while (usedNumbers.has(number) && number < 254) number++
    usedNumbers.add(number)
    return addresses.podIP(number)
  }

  async #writeStatus(pod: ReadonlyPod, entry: Entry, nowMs: number): Promise<void> {
    const status = podStatus(pod, entry.runtime, nowMs)
    if (entry.written !== undefined && sameJson(entry.written, status)) return
    const { client, signal } = this.#context
    const { name = '', namespace = '', uid = '' } = pod.metadata
    const patch = { metadata: { uid }, status } as unknown as JsonObject
    const options = { namespace, type: 'strategic', subresource: 'status', fieldManager: 'kubelet', patch, signal } as const
    await ignoreGone(client.patch(pods, name, options))
    entry.written = status
  }

  async #recordEvents(pod: ReadonlyPod, { runtime, node }: Entry): Promise<void> {
    const { events } = runtime
    runtime.events = []
    const object = { ...(pod as DeepReadonly<Pod>), apiVersion: 'v1', kind: 'Pod' }
    for (const event of events) await this.#recorders.get(node.template.name)?.record(object, event)
  }

  async #finishDeletion({ metadata }: ReadonlyPod): Promise<void> {
    const { client, signal } = this.#context
    const { name = '', namespace = '', uid = '' } = metadata
    await ignoreGone(client.delete(pods, name, { namespace, gracePeriodSeconds: 0, preconditions: { uid }, signal }))
  }
}

/** A pod that is gone, or whose name another pod has, needs nothing more. */
async function ignoreGone(request: Promise<unknown>): Promise<void> {
  try {
    await request
  } catch (error) {
    if (!ApiError.is(error) || (error.reason !== 'NotFound' && error.reason !== 'Conflict')) throw error
  }
}
