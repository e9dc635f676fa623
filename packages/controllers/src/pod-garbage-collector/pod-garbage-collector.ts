import type { Informer } from '@krmkit/client'
import { ignoreNotFound, ignoreReasons } from '../framework/api-errors.ts'
import type { ObjectIndex } from '../framework/shared-informers.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { RequeueAfter, WorkQueue } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { type Node, nodes, type Pod, pods, queueKey, type ReadonlyPod, splitKey } from '../workloads/objects.ts'
import { isFinished, isTerminating } from '../workloads/pod-state.ts'
import { changePodStatus, type PodStatusChange } from '../workloads/pod-status.ts'

/** Number of ended pods above which the oldest are deleted. */
const terminatedPodThreshold = 12_500
/** Pods of a missing node are kept for this time, because the node may be registered again. */
const quarantineMs = 40_000

/**
 * Deletes pods that no kubelet will delete: pods of missing nodes, terminating pods that are unscheduled or on an
 * out-of-service node, and the oldest ended pods.
 */
export const podGarbageCollector: Controller = {
  name: 'pod-garbage-collector-controller',
  isDefault: false,
  start: (context) => disposeSubscriptions(new PodGarbageCollector(context).subscriptions),
}

class PodGarbageCollector {
  readonly #context: ControllerContext
  readonly #pods: Informer<Pod>
  readonly #nodes: Informer<Node>
  readonly #byNode: ObjectIndex<Pod>
  readonly #ended: ObjectIndex<Pod>
  readonly #queue: WorkQueue<string>
  /** Time at which a node was first seen missing, by name. */
  readonly #missingSince = new Map<string, number>()
  readonly subscriptions: readonly (() => void)[]

  constructor(context: ControllerContext) {
    const { informers, rateLimit } = context
    this.#context = context
    this.#pods = informers.of(pods)
    this.#nodes = informers.of(nodes)
    this.#byNode = informers.index(pods, 'node', ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []))
    this.#ended = informers.index(pods, 'ended', (pod) => (isFinished(pod) ? ['ended'] : []))
    this.#queue = context.queue<string>({ sync: (key) => this.#sync(key), rateLimit })
    const enqueue = (pod: ReadonlyPod) => this.#queue.add(queueKey(pod))
    const enqueuePodsOf = ({ metadata }: { readonly metadata: { readonly name?: string } }) => {
      for (const pod of this.#byNode.get(metadata.name ?? '')) enqueue(pod)
    }
    this.subscriptions = [
      this.#pods.on({ added: enqueue, updated: enqueue }),
      this.#nodes.on({ added: enqueuePodsOf, updated: enqueuePodsOf, deleted: enqueuePodsOf }),
    ]
  }

  async #sync(key: string): Promise<RequeueAfter | undefined> {
    if (!this.#nodes.hasSynced) await this.#nodes.synced
    if (!this.#pods.hasSynced) await this.#pods.synced
    const { namespace, name } = splitKey(key)
    const pod = this.#pods.get(name, namespace)
    if (pod === undefined) return undefined
    if (isFinished(pod)) await this.#deleteOldest()
    const nodeName = pod.spec?.nodeName
    if (!nodeName) {
      if (isTerminating(pod)) await this.#delete(pod)
      return undefined
    }
    const node = this.#nodes.get(nodeName)
    if (node !== undefined) {
      this.#missingSince.delete(nodeName)
      if (isTerminating(pod) && this.#isOutOfService(node as Node)) await this.#delete(pod)
      return undefined
    }
    return this.#deleteOrphan(pod, nodeName)
  }

  async #deleteOrphan(pod: ReadonlyPod, nodeName: string): Promise<RequeueAfter | undefined> {
    const { client, clock, signal } = this.#context
    const now = clock.now()
    const since = this.#missingSince.get(nodeName) ?? now
    this.#missingSince.set(nodeName, since)
    if (now < since + quarantineMs) return { requeueAfterMs: since + quarantineMs - now }
    if ((await ignoreNotFound(client.get(nodes, nodeName, { signal }))) !== undefined) return undefined
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
    }
    await this.#delete(pod, { condition })
    if (this.#byNode.get(nodeName).length <= 1) this.#missingSince.delete(nodeName)
    return undefined
  }

  #isOutOfService({ spec, status }: Node): boolean {
    const key = `node.${this.#context.profile.domain}/out-of-service`
    const isReady = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false
    return !isReady && (spec?.taints?.some((taint) => taint.key === key) ?? false)
  }

  /** Deletes the oldest ended pods beyond the threshold, evicted ones first. */
  async #deleteOldest(): Promise<void> {
    const ended = this.#ended.get('ended')
    if (ended.length <= terminatedPodThreshold) return
    const rank = ({ status }: ReadonlyPod) => (status?.phase === 'Failed' && status.reason === 'Evicted' ? 0 : 1)
    const created = ({ metadata }: ReadonlyPod) => metadata.creationTimestamp ?? ''
    const sorted = [...ended].sort(
      (a, b) => rank(a) - rank(b) || created(a).localeCompare(created(b)) || queueKey(a).localeCompare(queueKey(b)),
    )
    for (const pod of sorted.slice(0, ended.length - terminatedPodThreshold)) await this.#delete(pod)
  }

  /** Marks a pod as failed, because no kubelet will, and deletes it at once. */
  async #delete(pod: ReadonlyPod, change: Omit<PodStatusChange, 'phase'> = {}): Promise<void> {
    const { client, signal } = this.#context
    if (!isFinished(pod)) await ignoreNotFound(changePodStatus(pod, { ...change, phase: 'Failed' }, this.#context))
    const { name = '', namespace = '', uid = '' } = pod.metadata
    const request = client.delete(pods, name, { namespace, gracePeriodSeconds: 0, preconditions: { uid }, signal })
    await ignoreReasons(request, ['NotFound', 'Conflict'])
  }
}
