import type { Informer } from '@krmkit/client'
import { ApiError, type DeepReadonly, formatTime, type JsonObject } from '@krmkit/meta'
import { EventRecorder } from '../events/event-recorder.ts'
import { ignoreCreateConflict, ignoreNotFound } from '../framework/api-errors.ts'
import { sameJson } from '../framework/same-json.ts'
import type { RequeueAfter, WorkQueue } from '../framework/work-queue.ts'
import type { ControllerContext } from '../interfaces.ts'
import { type Node, nodes, queueKey, splitKey } from '../workloads/objects.ts'
import { isFinished } from '../workloads/pod-state.ts'
import type { NodeSimulationOptions, NodeTemplate } from './interfaces.ts'
import { metricsApi } from './metrics-api.ts'
import { extendedChanges, type nodeAddresses, nodeConditions, nodeLease, nodeObject } from './node-objects.ts'
import { type Lease, leases, type Pod, type PodStatus, pods, type ReadonlyPod } from './objects.ts'
import type { PodAdmission, PodRefusal } from './pod-admission.ts'
import { PodRuntime } from './pod-runtime.ts'
import { mountProblem } from './pod-sources.ts'
import { type PodStatusPatch, podStatus } from './pod-status.ts'

const defaultHeartbeatMs = 10_000
/** The status of a node is written at least this often. */
const statusMs = 5 * 60_000
const namespaceDefaults = 2
/** Base of the mount backoff, doubled before each retry. */
const mountBackoffMs = 250
const maxMountBackoffMs = 122_000

/** A node with the state of its kubelet. */
export interface SimulatedNode {
  readonly template: NodeTemplate
  readonly index: number
  readonly addresses: ReturnType<typeof nodeAddresses>
  readonly usedNumbers: Set<number>
  readonly admission: PodAdmission
  isFailed: boolean
  /** Whether the lease of the node is being renewed. */
  isBeating: boolean
  statusAtMs: number
}

/** A pod on a node. */
export interface SimulatedEntry {
  readonly uid: string
  readonly node: SimulatedNode
  readonly runtime: PodRuntime
  /** Why the kubelet rejects the pod. */
  readonly refusal: PodRefusal | undefined
  /** Whether nothing runs, because the pod was rejected or had already finished. */
  readonly isInert: boolean
  /** Whether the config maps and secrets of its volumes exist. */
  isMounted: boolean
  mountBackoffMs: number
  written: PodStatusPatch | undefined
}

interface Shared {
  readonly options: NodeSimulationOptions
  readonly nodes: ReadonlyMap<string, SimulatedNode>
  readonly entries: Map<string, SimulatedEntry>
  readonly notify: () => void
  readonly endHeartbeats: (node: SimulatedNode) => void
}

/** The controller of the nodes while it runs. */
export class RunningSimulation implements AsyncDisposable {
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
    const clock = context.heartbeats?.clock ?? context.clock
    this.#nodeQueue = context.queue<string>({ sync: (name) => this.#syncNode(name), clock })
    const enqueue = (pod: ReadonlyPod) => {
      if (isFinished(pod as Parameters<typeof isFinished>[0])) this.#release(pod)
      if (shared.nodes.has(pod.spec?.nodeName ?? '') || shared.entries.has(queueKey(pod))) this.#podQueue.add(queueKey(pod))
    }
    const deleted = (pod: ReadonlyPod) => {
      this.#release(pod)
      enqueue(pod)
    }
    const nodeUpdated = (node: DeepReadonly<Node>) => {
      if (extendedChanges(node) !== undefined && shared.nodes.has(node.metadata.name ?? ''))
        this.#nodeQueue.add(node.metadata.name ?? '')
    }
    this.#subscriptions = [this.#pods.on({ added: enqueue, updated: enqueue, deleted }), this.#nodes.on({ updated: nodeUpdated })]
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

  wait(ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#context
    return new Promise((resolve) => {
      const done = () => {
        cancel()
        signal.removeEventListener('abort', done)
        resolve()
      }
      const cancel = clock.setTimeout(done, ms)
      signal.addEventListener('abort', done, { once: true })
      if (signal.aborted) done()
    })
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
    // A deleted node is not registered again.
    if (node === undefined) {
      this.#shared.endHeartbeats(state)
      return undefined
    }
    await this.#renewLease(name, node, nowMs)
    await this.#allocateExtended(node)
    if (nowMs - state.statusAtMs >= statusMs) await this.#writeNodeStatus(name, state, nowMs)
    // The node may have failed meanwhile.
    state.isBeating = !state.isFailed
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

  /** Makes extended resources that other clients add to the capacity of a node allocatable. */
  async #allocateExtended(node: Node): Promise<void> {
    const { client, signal } = this.#context
    const allocatable = extendedChanges(node)
    if (allocatable === undefined) return
    const options = { type: 'merge', subresource: 'status', patch: { status: { allocatable } }, signal } as const
    await ignoreNotFound(client.patch(nodes, node.metadata.name ?? '', options))
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
    if (entry.isInert && pod.metadata.deletionTimestamp === undefined) return this.#refuse(pod, entry)
    if (!entry.isMounted && pod.metadata.deletionTimestamp === undefined) {
      const problem = await mountProblem(pod, this.#context)
      if (problem !== undefined) return this.#waitForMount(pod, entry, problem)
      entry.isMounted = true
    }
    const { runtime } = entry
    const nowMs = this.#context.clock.now()
    let nextAtMs = runtime.advance(pod, nowMs)
    if (await runtime.probe(pod, nowMs)) nextAtMs = runtime.advance(pod, nowMs)
    nextAtMs = earliest(nextAtMs, this.#resize(pod, entry, nowMs))
    this.#shared.notify()
    const isOver = runtime.isStopped || isFinished(pod as Parameters<typeof isFinished>[0])
    if (!isOver || runtime.isStopped) await this.#writeStatus(pod, entry, nowMs)
    await this.#recordEvents(pod, entry)
    if (runtime.isStopped) await this.#finishDeletion(pod)
    return nextAtMs === undefined || isOver ? undefined : { requeueAfterMs: nextAtMs - nowMs }
  }

  /** Changes the resources of a running pod. @returns time of the next change */
  #resize(pod: ReadonlyPod, { runtime, node }: SimulatedEntry, nowMs: number): number | undefined {
    const known = this.#nodes.get(node.template.name)
    if (runtime.isStopped || isFinished(pod as Parameters<typeof isFinished>[0])) runtime.resize.end()
    else if (known !== undefined) return runtime.resize.advance(pod, nowMs, () => node.admission.resize(pod, known))
    return undefined
  }

  /** Returns the entry of a pod, creating it if needed. Ends the entry of an earlier pod of the same name. */
  #entryOf(key: string, pod: ReadonlyPod | undefined): SimulatedEntry | undefined {
    const { entries, nodes: known, options } = this.#shared
    const found = entries.get(key)
    if (found !== undefined && found.uid === pod?.metadata.uid) return found
    if (found !== undefined) {
      entries.delete(key)
      found.runtime.kill(this.#context.clock.now())
      this.#shared.notify()
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
    const uid = pod.metadata.uid ?? ''
    const isOver = isFinished(pod as Parameters<typeof isFinished>[0])
    const refusal = isOver ? undefined : node.admission.admit(pod, isRunning ? undefined : this.#nodes.get(node.template.name))
    const entry = {
      uid,
      node,
      runtime,
      refusal,
      isInert: isOver || refusal !== undefined,
      isMounted: isRunning,
      mountBackoffMs,
      written: undefined,
    }
    entries.set(key, entry)
    return entry
  }

  /** Frees the requests of the pod and syncs pods whose resize waits for resources. */
  #release(pod: ReadonlyPod): void {
    const { entries } = this.#shared
    const node = entries.get(queueKey(pod))?.node
    node?.admission.remove(pod.metadata.uid ?? '')
    for (const [key, entry] of entries) if (entry.node === node && entry.runtime.resize.isDeferred) this.#podQueue.add(key)
  }

  /** Marks a pod as failed that its node rejects. */
  async #refuse(pod: ReadonlyPod, { node, refusal, runtime: { hostIP } }: SimulatedEntry): Promise<undefined> {
    if (refusal === undefined || isFinished(pod as Parameters<typeof isFinished>[0])) return undefined
    const { reason, message } = refusal
    const startTime = formatTime(this.#context.clock.now())
    const hostIPs = [{ ip: hostIP }]
    await this.#patchStatus(pod, { phase: 'Failed', reason, message: `Pod was rejected: ${message}`, hostIP, hostIPs, startTime })
    const object = { ...(pod as DeepReadonly<Pod>), apiVersion: 'v1', kind: 'Pod' }
    await this.#recorders.get(node.template.name)?.record(object, { type: 'Warning', reason, message })
    return undefined
  }

  /** Reports that volumes of a pod cannot be mounted, and retries with backoff. */
  async #waitForMount(pod: ReadonlyPod, entry: SimulatedEntry, problem: string): Promise<RequeueAfter> {
    await this.#writeStatus(pod, entry, this.#context.clock.now())
    const object = { ...(pod as DeepReadonly<Pod>), apiVersion: 'v1', kind: 'Pod' }
    const event = { type: 'Warning', reason: 'FailedMount', message: problem } as const
    await this.#recorders.get(entry.node.template.name)?.record(object, event)
    entry.mountBackoffMs = Math.min(maxMountBackoffMs, entry.mountBackoffMs * 2)
    return { requeueAfterMs: entry.mountBackoffMs }
  }

  #nextIP({ usedNumbers, addresses }: SimulatedNode): string {
    let number = 2
    while (usedNumbers.has(number) && number < 254) number++
    usedNumbers.add(number)
    return addresses.podIP(number)
  }

  async #writeStatus(pod: ReadonlyPod, entry: SimulatedEntry, nowMs: number): Promise<void> {
    const status = podStatus(pod, entry.runtime, nowMs)
    if (entry.written !== undefined && sameJson(entry.written, status)) return
    await this.#patchStatus(pod, status)
    entry.written = status
  }

  async #patchStatus({ metadata }: ReadonlyPod, status: PodStatus | PodStatusPatch): Promise<void> {
    const { client, signal } = this.#context
    const { name = '', namespace = '', uid = '' } = metadata
    const patch = { metadata: { uid }, status } as unknown as JsonObject
    const options = { namespace, type: 'strategic', subresource: 'status', fieldManager: 'kubelet', patch, signal } as const
    await ignoreGone(client.patch(pods, name, options))
  }

  async #recordEvents(pod: ReadonlyPod, { runtime, node }: SimulatedEntry): Promise<void> {
    const { events } = runtime
    runtime.events = []
    const object = { ...(pod as DeepReadonly<Pod>), apiVersion: 'v1', kind: 'Pod' }
    for (const event of events) await this.#recorders.get(node.template.name)?.record(object, event)
  }

  /**
   * Deletes a stopped pod with grace period zero. Not needed if its deletion already has grace period zero: the server
   * then removes the pod with its last finalizer.
   */
  async #finishDeletion({ metadata }: ReadonlyPod): Promise<void> {
    if (metadata.deletionGracePeriodSeconds === 0) return
    const { client, signal } = this.#context
    const { name = '', namespace = '', uid = '' } = metadata
    await ignoreGone(client.delete(pods, name, { namespace, gracePeriodSeconds: 0, preconditions: { uid }, signal }))
  }
}

function earliest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

/** Ignores errors because the pod was deleted, or another pod has its name. */
async function ignoreGone(request: Promise<unknown>): Promise<void> {
  try {
    await request
  } catch (error) {
    if (!ApiError.is(error) || (error.reason !== 'NotFound' && error.reason !== 'Conflict')) throw error
  }
}
