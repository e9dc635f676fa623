import type { Informer } from '@krmkit/client'
import { labelSelectorFromObject } from '@krmkit/meta/selectors'
import { ObjectEvents } from '../events/object-events.ts'
import { ignoreReasons } from '../framework/api-errors.ts'
import { sameJson } from '../framework/same-json.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { RequeueAfter, WorkQueue } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { Expectations } from '../workloads/expectations.ts'
import { type Node, nodes, queueKey, type ReadonlyPod, splitKey } from '../workloads/objects.ts'
import { OwnedPods } from '../workloads/owned-pods.ts'
import { isNamespaceTerminating, isNotFound, PodControl } from '../workloads/pod-control.ts'
import { isFinished, isTerminating, nextAvailableAtMs } from '../workloads/pod-state.ts'
import { type ReadonlyRevision, RevisionHistory, revisionLabel } from '../workloads/revisions.ts'
import { slowStart } from '../workloads/slow-start.ts'
import { FailedPodBackoff } from './failed-pod-backoff.ts'
import { type DaemonSetView, type NodePlan, planNodes, planUpdate } from './node-plan.ts'
import { type DaemonSet, type DaemonSetStatus, daemonSets, podOfNode, type ReadonlyDaemonSet, targetNode } from './objects.ts'
import { daemonSetStatus } from './status.ts'

/** Maximum number of pods that one sync creates or deletes. */
const burstReplicas = 250
const defaultHistoryLimit = 10

/** Runs a pod on every node that a daemon set selects. */
export const daemonSetController: Controller = {
  name: 'daemonset-controller',
  isDefault: false,
  start: (context) => disposeSubscriptions(new DaemonSetController(context).subscriptions),
}

class DaemonSetController {
  readonly #context: ControllerContext
  readonly #sets: Informer<DaemonSet>
  readonly #nodes: Informer<Node>
  readonly #pods: OwnedPods<DaemonSet>
  readonly #history: RevisionHistory
  readonly #expectations: Expectations
  readonly #events: ObjectEvents<DaemonSet>
  readonly #control: PodControl<DaemonSet>
  readonly #backoff: FailedPodBackoff
  readonly #queue: WorkQueue<string>
  readonly subscriptions: readonly (() => void)[]

  constructor(context: ControllerContext) {
    const { informers, clock, rateLimit } = context
    this.#context = context
    this.#events = new ObjectEvents(context, daemonSets, 'daemonset-controller')
    this.#control = new PodControl(context, this.#events)
    this.#sets = informers.of(daemonSets)
    this.#nodes = informers.of(nodes)
    this.#history = new RevisionHistory(context, daemonSets, { hashLabel: revisionLabel })
    this.#expectations = new Expectations(clock)
    this.#backoff = new FailedPodBackoff(clock)
    this.#queue = context.queue<string>({ sync: (key) => this.#sync(key), rateLimit })
    const enqueue = (set: ReadonlyDaemonSet) => this.#queue.add(queueKey(set))
    const enqueueAll = () => {
      for (const set of this.#sets.list()) enqueue(set)
    }
    this.#pods = new OwnedPods({
      context,
      owners: this.#sets,
      resource: daemonSets,
      selectorOf: ({ spec }) => (spec?.selector == null ? undefined : labelSelectorFromObject(spec.selector)),
      changed: enqueue,
      created: (key) => this.#expectations.created(key),
      deleted: (key, { metadata }) => this.#expectations.deleted(key, metadata.uid),
    })
    this.subscriptions = [
      this.#sets.on({ added: enqueue, updated: enqueue, deleted: (set) => this.#expectations.forget(queueKey(set)) }),
      this.#nodes.on({
        added: enqueueAll,
        updated(node, previous) {
          const isSame = sameJson(node.metadata.labels ?? {}, previous.metadata.labels ?? {})
          if (!isSame || !sameJson(node.spec?.taints ?? [], previous.spec?.taints ?? [])) enqueueAll()
        },
        deleted: enqueueAll,
      }),
      this.#pods.subscribe(),
    ]
  }

  async #sync(key: string): Promise<RequeueAfter | undefined> {
    await this.#pods.synced()
    await this.#history.synced()
    if (!this.#nodes.hasSynced) await this.#nodes.synced
    const { namespace, name } = splitKey(key)
    const set = this.#sets.get(name, namespace)
    if (set?.spec?.selector == null || set.metadata.deletionTimestamp !== undefined) return undefined
    const known = await this.#history.list(set, labelSelectorFromObject(set.spec.selector))
    const { revision, collisionCount } = await this.#history.update(set, known)
    const waitMs = this.#expectations.waitMs(key)
    const claimed = await this.#pods.claim(set)
    const view = this.#view(set, claimed, revision)
    const failure = waitMs === 0 ? await this.#update(key, view) : undefined
    if (waitMs === 0) await this.#truncate(set, claimed, { known, revision })
    await this.#writeStatus(set, daemonSetStatus(view, { isObserved: waitMs === 0, collisionCount }))
    if (failure !== undefined) throw failure
    const availableAt = nextAvailableAtMs(claimed, set.spec.minReadySeconds, view.nowMs)
    if (availableAt !== undefined) return { requeueAfterMs: availableAt - view.nowMs }
    return waitMs === 0 ? undefined : { requeueAfterMs: waitMs }
  }

  #view(set: ReadonlyDaemonSet, claimed: readonly ReadonlyPod[], revision: ReadonlyRevision): DaemonSetView {
    const { clock, profile } = this.#context
    const podsByNode = new Map<string, ReadonlyPod[]>()
    for (const pod of claimed) {
      const node = isFinished(pod) && isTerminating(pod) ? undefined : targetNode(pod)
      if (node === undefined) continue
      const pods = podsByNode.get(node)
      if (pods === undefined) podsByNode.set(node, [pod])
      else pods.push(pod)
    }
    const hash = revision.metadata.labels?.[revisionLabel] ?? ''
    return { set, nodes: this.#nodes.list(), podsByNode, hash, nowMs: clock.now(), profile }
  }

  /** Creates and deletes pods; replaces outdated pods once every node has its pod. @returns the first error */
  async #update(key: string, view: DaemonSetView): Promise<unknown> {
    const { uid = '' } = view.set.metadata
    const plan = planNodes(view, (node) => {
      const waitMs = this.#backoff.tryDelete(`${uid}/${node}`)
      if (waitMs > 0) this.#queue.addAfter(key, waitMs)
      return waitMs === 0
    })
    for (const { pod, node } of plan.ended) this.#recordEnded(view.set, pod, node)
    const failure = await this.#apply(key, view, plan)
    const isIdle = plan.create.length + plan.delete.length === 0
    if (failure !== undefined || !isIdle || view.set.spec?.updateStrategy?.type === 'OnDelete') return failure
    return this.#apply(key, view, planUpdate(view))
  }

  #recordEnded(set: ReadonlyDaemonSet, { metadata, status }: ReadonlyPod, node: string): void {
    const pod = `daemon pod ${metadata.namespace}/${metadata.name} on node ${node}`
    if (status?.phase === 'Failed') this.#events.warning(set, 'FailedDaemonPod', `Found failed ${pod}, will try to kill it`)
    else this.#events.normal(set, 'SucceededDaemonPod', `Found succeeded ${pod}, will try to delete it`)
  }

  async #apply(key: string, view: DaemonSetView, plan: NodePlan): Promise<unknown> {
    const create = plan.create.slice(0, burstReplicas)
    const surplus = plan.delete.slice(0, burstReplicas)
    if (create.length + surplus.length === 0) return undefined
    this.#expectations.expect(key, { creations: create.length, deletions: surplus.map(({ metadata }) => metadata.uid ?? '') })
    let attempts = 0
    const { error } = await slowStart(create.length, async (i) => {
      attempts++
      try {
        await this.#control.create(view.set, await podOfNode(view.set, create[i] ?? '', view))
      } catch (error) {
        this.#expectations.created(key)
        if (!isNamespaceTerminating(error)) throw error
      }
    })
    for (; attempts < create.length; attempts++) this.#expectations.created(key)
    const errors: unknown[] = error === undefined ? [] : [error]
    const remove = async (pod: ReadonlyPod) => {
      try {
        await this.#control.delete(view.set, pod)
      } catch (error) {
        this.#expectations.deleted(key, pod.metadata.uid)
        if (!isNotFound(error)) errors.push(error)
      }
    }
    await Promise.all(surplus.map(remove))
    return errors[0]
  }

  /** Deletes old revisions beyond the history limit that no pod uses. */
  async #truncate(
    set: ReadonlyDaemonSet,
    pods: readonly ReadonlyPod[],
    { known, revision }: { readonly known: readonly ReadonlyRevision[]; readonly revision: ReadonlyRevision },
  ): Promise<void> {
    const old = known.filter(({ metadata }) => metadata.name !== revision.metadata.name)
    const surplus = Math.max(0, old.length - (set.spec?.revisionHistoryLimit ?? defaultHistoryLimit))
    const live = new Set(pods.map(({ metadata }) => metadata.labels?.[revisionLabel]))
    await this.#history.delete(old.filter(({ metadata }) => !live.has(metadata.labels?.[revisionLabel])).slice(0, surplus))
  }

  /** Writes the status against the version that was read. A conflicting change causes another sync. */
  async #writeStatus(set: ReadonlyDaemonSet, status: DaemonSetStatus): Promise<void> {
    if (sameJson(set.status ?? {}, status)) return
    const { client, fieldManager, signal } = this.#context
    const changed = { ...(set as DaemonSet), status }
    const request = client.update(daemonSets, changed, { subresource: 'status', fieldManager, signal })
    await ignoreReasons(request, ['NotFound', 'Conflict'])
  }
}
