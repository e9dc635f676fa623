import type { Informer } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { EventRecorder } from '../events/event-recorder.ts'
import { ignoreNotFound } from '../framework/api-errors.ts'
import { sameJson } from '../framework/same-json.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { WorkQueue } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { isFinished } from '../workloads/pod-state.ts'
import { changePodStatus } from '../workloads/pod-status.ts'
import { attemptPod } from './attempt.ts'
import { ClusterState } from './cluster-view.ts'
import { createDefaultSelector } from './default-selector.ts'
import { type NodeInfo, type PodInfo, podInfo } from './node-info.ts'
import { budgets, type Node, namespaces, nodes, type Pod, pods, type ReadonlyNode, type ReadonlyPod } from './objects.ts'
import type { Preemption } from './preemption.ts'
import { type QueuedPod, SchedulingQueue } from './scheduling-queue.ts'
import { VolumeBinding } from './volumes.ts'

/** The field manager of the scheduler, which is a component separate from the controller manager. */
const fieldManager = 'kube-scheduler'
/** Name in `spec.schedulerName`, and component of the events. */
export const defaultSchedulerName = 'default-scheduler'

/** Time after which a pod with unbound claims loses its reserved node. */
const bindTimeoutMs = 10 * 60_000

/**
 * Binds pods to nodes as the default profile of kube-scheduler does.
 *
 * Differs: extenders, dynamic resources and several profiles are not supported; all nodes are scored, not a sample.
 */
export const scheduler: Controller = {
  name: 'kube-scheduler',
  isDefault: false,
  start: (context) => disposeSubscriptions(new Scheduler(context).subscriptions),
}

class Scheduler {
  readonly #context: ControllerContext
  readonly #state = new ClusterState()
  readonly #pods: Informer<Pod>
  readonly #nodes: Informer<Node>
  readonly #namespaces: Informer<ApiObject>
  readonly #volumes: VolumeBinding
  readonly #events: EventRecorder
  readonly #queue: SchedulingQueue
  readonly #work: WorkQueue<string>
  readonly #defaultSelector: ReturnType<typeof createDefaultSelector>
  /** Pods whose volumes are being bound, by uid, with their node. */
  readonly #binding = new Map<string, { readonly queued: QueuedPod; readonly node: string; readonly deadlineMs: number }>()
  readonly #informers: readonly { readonly hasSynced: boolean; readonly synced: Promise<void> }[]
  readonly subscriptions: readonly (() => void)[]

  constructor(shared: ControllerContext) {
    const { informers, clock } = shared
    const context = { ...shared, fieldManager }
    this.#context = context
    this.#events = new EventRecorder(context, { component: defaultSchedulerName, api: 'events' })
    // A single worker, because each decision changes the resources left for the next pod.
    this.#work = context.queue<string>({ sync: () => this.#run(), workers: 1 })
    this.#queue = new SchedulingQueue(clock, () => this.#work.add('pods'))
    this.#pods = informers.of(pods)
    this.#nodes = informers.of(nodes)
    this.#namespaces = informers.of(namespaces)
    this.#volumes = new VolumeBinding(context)
    this.#defaultSelector = createDefaultSelector(informers)
    const disruptions = informers.of(budgets)
    this.#informers = [this.#pods, this.#nodes, this.#namespaces, disruptions, ...this.#volumes.informers]
    this.subscriptions = [
      ...[this.#watchNodes(), this.#watchPods(), this.#watchNamespaces(), ...this.#watchVolumes()],
      () => this.#queue.stop(),
    ]
  }

  #watchNodes(): () => void {
    return this.#nodes.on({
      added: (node) => {
        this.#state.setNode(node)
        this.#queue.notify('node')
      },
      updated: (node, previous) => {
        const isSame =
          sameJson(node.spec, previous.spec) &&
          sameJson(node.metadata.labels, previous.metadata.labels) &&
          sameJson(node.status?.allocatable, previous.status?.allocatable)
        if (isSame) return
        this.#state.setNode(node)
        this.#queue.notify('node')
      },
      deleted: ({ metadata }) => this.#state.removeNode(metadata.name ?? ''),
    })
  }

  #watchNamespaces(): () => void {
    return this.#namespaces.on({
      updated: (object, previous) => {
        if (!sameJson(object.metadata.labels, previous.metadata.labels)) this.#queue.notify('namespace')
      },
    })
  }

  #watchVolumes(): (() => void)[] {
    const changed = () => {
      if (this.#binding.size > 0) this.#work.add('volumes')
      this.#queue.notify('volume')
    }
    return this.#volumes.informers.map((informer) => informer.on({ added: changed, updated: changed }))
  }

  #watchPods(): () => void {
    return this.#pods.on({
      added: (pod) => this.#observe(pod),
      updated: (pod, previous) => {
        const isRelabelled = !sameJson(pod.metadata.labels, previous.metadata.labels)
        this.#observe(pod, previous)
        if (isRelabelled && pod.spec?.nodeName) this.#queue.notify('pod-labels')
      },
      deleted: (pod) => this.#forget(pod),
    })
  }

  #observe(pod: ReadonlyPod, previous?: ReadonlyPod): void {
    const { uid = '' } = pod.metadata
    if (isFinished(pod as Parameters<typeof isFinished>[0])) {
      this.#forget(pod)
      return
    }
    const node = pod.spec?.nodeName ?? ''
    if (node !== '') {
      const isNew = this.#state.nodeOf(uid) === undefined
      this.#queue.remove(uid)
      this.#state.denominate(uid)
      const before = this.#state.nodes.get(node)?.pods.get(uid)
      const info = podInfo(pod)
      this.#state.setPod(info, node)
      if (isNew) this.#queue.notify('pod-added')
      else if (before !== undefined && needsLess(info, before)) this.#queue.notify('pod-scaled-down')
      return
    }
    const { schedulerName = defaultSchedulerName, schedulingGates = [] } = pod.spec ?? {}
    if (schedulerName !== defaultSchedulerName || schedulingGates.length > 0) return
    if (pod.metadata.deletionTimestamp !== undefined) {
      this.#forget(pod)
      return
    }
    if (this.#binding.has(uid) || this.#state.nodeOf(uid) !== undefined) return
    const info = podInfo(pod)
    const { nominatedNodeName = '' } = pod.status ?? {}
    if (nominatedNodeName !== '') this.#state.nominate(info, nominatedNodeName)
    // A nomination made by this process may not be written yet.
    else if (previous?.status?.nominatedNodeName) this.#state.denominate(uid)
    this.#queue.add(info)
  }

  #forget({ metadata: { uid = '' } }: ReadonlyPod): void {
    this.#queue.remove(uid)
    this.#binding.delete(uid)
    this.#state.denominate(uid)
    if (this.#state.nodeOf(uid) === undefined) return
    this.#state.removePod(uid)
    this.#queue.notify('pod-removed')
  }

  async #run(): Promise<undefined> {
    for (const informer of this.#informers) if (!informer.hasSynced) await informer.synced
    await this.#checkVolumes()
    for (let queued = this.#queue.pop(); queued !== undefined; queued = this.#queue.pop()) {
      if (this.#context.signal.aborted) return undefined
      await this.#schedule(queued)
    }
    return undefined
  }

  /** Binds the pods whose claims are bound and releases those that have waited too long. */
  async #checkVolumes(): Promise<void> {
    const now = this.#context.clock.now()
    for (const [uid, { queued, node, deadlineMs }] of [...this.#binding]) {
      const isBound = this.#volumes.areBound(queued.info)
      if (!isBound && now < deadlineMs) {
        this.#work.addAfter('volumes', deadlineMs - now)
        continue
      }
      this.#binding.delete(uid)
      if (isBound) await this.#bind(queued, node)
      else await this.#giveUp(queued)
    }
  }

  async #giveUp(queued: QueuedPod): Promise<void> {
    const { info } = queued
    this.#release(queued)
    const message = 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'
    await this.#events.record(target(info), { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', message })
    await this.#reject(info, { reason: 'SchedulerError', message })
  }

  async #schedule(queued: QueuedPod): Promise<void> {
    const { info } = queued
    const since = this.#queue.eventNumber
    const attempt = attemptPod(info, {
      view: this.#state,
      random: this.#context.random,
      profile: this.#context.profile,
      namespaceLabels: (name) => this.#namespaces.get(name)?.metadata.labels ?? {},
      volumes: this.#volumes.of(info),
      defaultSelector: this.#defaultSelector,
      budgets: () => this.#context.informers.of(budgets).list(),
    })
    if (attempt.kind === 'node') {
      await this.#assign(queued, attempt.node)
      return
    }
    const refused = { ...queued, plugins: attempt.plugins }
    this.#queue.refuse(refused, since)
    const { preemption, message } = attempt
    if (preemption !== undefined) await this.#preempt(info, preemption)
    await this.#events.record(target(info), { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', message })
    await this.#reject(info, { reason: 'Unschedulable', message, nominated: preemption?.node })
  }

  /** Reserves the node, binds the unbound claims of the pod, then binds the pod. */
  async #assign(queued: QueuedPod, node: NodeInfo): Promise<void> {
    const { info } = queued
    this.#state.setPod(info, node.name)
    if (this.#volumes.areBound(info)) {
      await this.#bind(queued, node.name)
      return
    }
    const deadlineMs = this.#context.clock.now() + bindTimeoutMs
    this.#binding.set(info.uid, { queued, node: node.name, deadlineMs })
    this.#work.addAfter('volumes', bindTimeoutMs)
    try {
      await this.#volumes.bind(info, node.node as ReadonlyNode)
    } catch (error) {
      this.#binding.delete(info.uid)
      this.#release(queued)
      this.#context.onError(error)
    }
  }

  async #bind(queued: QueuedPod, node: string): Promise<void> {
    const { client, signal } = this.#context
    const { info } = queued
    const { name = '', namespace = '', uid = '' } = info.pod.metadata
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/binding`
    const metadata = { name, namespace, uid }
    const body = { apiVersion: 'v1', kind: 'Binding', metadata, target: { apiVersion: 'v1', kind: 'Node', name: node } }
    const response = await client.request({ method: 'POST', path, body, signal })
    if (response.status >= 400) {
      this.#release(queued)
      // A pod that was deleted or bound by another scheduler is not retried; its event updates the queue.
      if (response.status !== 404 && response.status !== 409) this.#context.onError(new Error(await response.text()))
      return
    }
    this.#state.denominate(uid)
    const message = `Successfully assigned ${namespace}/${name} to ${node}`
    await this.#events.record(target(info), { type: 'Normal', reason: 'Scheduled', action: 'Binding', message })
  }

  /** Releases the reservation of a pod that could not be bound, and requeues the pod. */
  #release(queued: QueuedPod): void {
    const { info } = queued
    this.#state.removePod(info.uid)
    const { name = '', namespace = '' } = info.pod.metadata
    const current = this.#pods.get(name, namespace)
    const isOpen = current?.metadata.uid === info.uid && (current.spec?.nodeName ?? '') === ''
    if (isOpen && current.metadata.deletionTimestamp === undefined) {
      this.#queue.refuse({ ...queued, plugins: new Set() }, this.#queue.eventNumber)
    }
    this.#queue.notify('pod-removed')
  }

  /** Deletes the victims, which terminate within their grace period. */
  async #preempt(info: PodInfo, { node, victims }: Preemption): Promise<void> {
    const { client, signal } = this.#context
    this.#state.nominate(info, node)
    for (const victim of victims) {
      const { name = '', namespace = '', uid = '' } = victim.pod.metadata
      if (victim.pod.metadata.deletionTimestamp !== undefined) continue
      const message = `${defaultSchedulerName}: preempting to accommodate a higher priority pod`
      const condition = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler', message }
      await ignoreNotFound(changePodStatus(asWorkload(victim.pod), { condition }, this.#context))
      await ignoreNotFound(client.delete(pods, name, { namespace, preconditions: { uid }, signal }))
      const text = `Preempted by pod ${info.uid} on node ${node}`
      const event = { type: 'Normal', reason: 'Preempted', action: 'Preempting', message: text } as const
      await this.#events.record(target(victim), event)
    }
  }

  async #reject(
    info: PodInfo,
    {
      reason,
      message,
      nominated,
    }: { readonly reason: string; readonly message: string; readonly nominated?: string | undefined },
  ): Promise<void> {
    const { client, signal } = this.#context
    const condition = { type: 'PodScheduled', status: 'False', reason, message }
    await ignoreNotFound(changePodStatus(asWorkload(info.pod), { condition }, this.#context))
    if (nominated === undefined || info.pod.status?.nominatedNodeName === nominated) return
    const { name = '', namespace = '' } = info.pod.metadata
    const patch = { status: { nominatedNodeName: nominated } }
    const options = { namespace, type: 'merge', subresource: 'status', patch, fieldManager, signal } as const
    await ignoreNotFound(client.patch(pods, name, options))
  }
}

/** Whether a pod requests less of some resource than before. */
function needsLess({ requests }: PodInfo, before: PodInfo): boolean {
  return [...before.requests].some(([name, amount]) => amount > (requests.get(name) ?? 0))
}

function asWorkload(pod: ReadonlyPod): Parameters<typeof changePodStatus>[0] {
  return pod as Parameters<typeof changePodStatus>[0]
}

function target({ pod }: PodInfo) {
  return { ...pod, apiVersion: 'v1', kind: 'Pod' }
}
