import type { Informer } from '@krmkit/client'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { controllerOf } from '@krmkit/meta/validation'
import { ObjectEvents } from '../events/object-events.ts'
import { ignoreReasons } from '../framework/api-errors.ts'
import { sameJson } from '../framework/same-json.ts'
import type { ObjectIndex } from '../framework/shared-informers.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { RequeueAfter } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { controllerReference } from '../workloads/claims.ts'
import { deletionOrder } from '../workloads/deletion-order.ts'
import { Expectations } from '../workloads/expectations.ts'
import { queueKey, type ReadonlyPod, splitKey } from '../workloads/objects.ts'
import { byController, OwnedPods } from '../workloads/owned-pods.ts'
import { isNamespaceTerminating, isNotFound, PodControl, podFromTemplate } from '../workloads/pod-control.ts'
import { isActive, isFinished, isTerminating, nextAvailableAtMs } from '../workloads/pod-state.ts'
import { slowStart } from '../workloads/slow-start.ts'
import {
  type ReadonlyReplicaSet,
  type ReplicaKind,
  type ReplicaSet,
  type ReplicaStatus,
  replicaSetKind,
  replicationControllerKind,
} from './objects.ts'
import { replicaStatus } from './status.ts'

/** Maximum number of pods that one sync creates or deletes. */
const burstReplicas = 500

/** Maintains the number of pods of replica sets. */
export const replicaSetController: Controller = controllerOfKind(replicaSetKind)

/** Maintains the number of pods of replication controllers. */
export const replicationController: Controller = controllerOfKind(replicationControllerKind)

function controllerOfKind(kind: ReplicaKind): Controller {
  return {
    name: kind.controllerName,
    isDefault: false,
    start: (context) => disposeSubscriptions(new ReplicaSetController(kind, context).subscriptions),
  }
}

class ReplicaSetController {
  readonly #kind: ReplicaKind
  readonly #context: ControllerContext
  readonly #sets: Informer<ReplicaSet>
  readonly #siblings: ObjectIndex<ReplicaSet>
  readonly #pods: OwnedPods<ReplicaSet>
  readonly #expectations: Expectations
  readonly #control: PodControl<ReplicaSet>
  readonly subscriptions: readonly (() => void)[]

  constructor(kind: ReplicaKind, context: ControllerContext) {
    const { informers, clock, rateLimit } = context
    this.#kind = kind
    this.#context = context
    this.#expectations = new Expectations(clock)
    this.#control = new PodControl(context, new ObjectEvents(context, kind.resource, kind.eventSource))
    this.#sets = informers.of(kind.resource)
    this.#siblings = informers.index(kind.resource, 'controller', byController)
    const queue = context.queue<string>({ sync: (key) => this.#sync(key), rateLimit })
    const enqueue = (set: ReadonlyReplicaSet) => queue.add(queueKey(set))
    this.#pods = new OwnedPods({
      context,
      owners: this.#sets,
      resource: kind.resource,
      selectorOf: (set) => kind.selectorOf(set),
      changed: enqueue,
      created: (key) => this.#expectations.created(key),
      deleted: (key, { metadata }) => this.#expectations.deleted(key, metadata.uid),
    })
    this.subscriptions = [
      this.#sets.on({
        added: enqueue,
        updated: (set, previous) => {
          if (set.metadata.uid !== previous.metadata.uid) this.#expectations.forget(queueKey(set))
          enqueue(set)
        },
        deleted: (set) => this.#expectations.forget(queueKey(set)),
      }),
      this.#pods.subscribe(),
    ]
  }

  async #sync(key: string): Promise<RequeueAfter | undefined> {
    await this.#pods.synced()
    const { namespace, name } = splitKey(key)
    const set = this.#sets.get(name, namespace)
    if (set === undefined) return undefined
    const waitMs = this.#expectations.waitMs(key)
    const pods = await this.#pods.claim(set, isActive)
    const mayScale = waitMs === 0 && set.metadata.deletionTimestamp === undefined
    const failure = mayScale ? await this.#scale(key, set, pods) : undefined
    const nowMs = this.#context.clock.now()
    await this.#writeStatus(set, replicaStatus(set, pods, { nowMs, failure, terminating: this.#countTerminating(set) }))
    if (failure !== undefined) throw failure
    const availableAt = nextAvailableAtMs(pods, set.spec?.minReadySeconds, nowMs)
    if (availableAt !== undefined) return { requeueAfterMs: availableAt - nowMs }
    return waitMs === 0 ? undefined : { requeueAfterMs: waitMs }
  }

  /** Returns the number of terminating pods; undefined where the status does not count them. */
  #countTerminating(set: ReadonlyReplicaSet): number | undefined {
    const { features } = this.#context
    if (!this.#kind.countsTerminating || !gateEnabled('DeploymentReplicaSetTerminatingReplicas', features)) return undefined
    const selector = this.#kind.selectorOf(set)
    const isCounted = (pod: ReadonlyPod) =>
      isTerminating(pod) && !isFinished(pod) && selector?.matches(pod.metadata.labels ?? {}) === true
    return this.#pods.of(set).filter(isCounted).length
  }

  /** Creates missing pods or deletes surplus ones. @returns the first error */
  async #scale(key: string, set: ReadonlyReplicaSet, pods: readonly ReadonlyPod[]): Promise<unknown> {
    const excess = pods.length - (set.spec?.replicas ?? 1)
    if (excess < 0) return this.#create(key, set, Math.min(-excess, burstReplicas))
    if (excess > 0) {
      return this.#delete(key, set, this.#chooseForDeletion(set, pods, Math.min(excess, burstReplicas)))
    }
    return undefined
  }

  async #create(key: string, set: ReadonlyReplicaSet, count: number): Promise<unknown> {
    this.#expectations.expect(key, { creations: count })
    const owner = controllerReference(set, this.#kind.resource)
    const { namespace = '' } = set.metadata
    let attempts = 0
    const { error } = await slowStart(count, async () => {
      attempts++
      try {
        await this.#control.create(set, await podFromTemplate(set.spec?.template ?? {}, owner, { namespace }))
      } catch (error) {
        this.#expectations.created(key)
        if (!isNamespaceTerminating(error)) throw error
      }
    })
    for (; attempts < count; attempts++) this.#expectations.created(key)
    return error
  }

  async #delete(key: string, set: ReadonlyReplicaSet, pods: readonly ReadonlyPod[]): Promise<unknown> {
    this.#expectations.expect(key, { deletions: pods.map(({ metadata }) => metadata.uid ?? '') })
    const errors: unknown[] = []
    const remove = async (pod: ReadonlyPod) => {
      try {
        await this.#control.delete(set, pod)
      } catch (error) {
        this.#expectations.deleted(key, pod.metadata.uid)
        if (!isNotFound(error)) errors.push(error)
      }
    }
    await Promise.all(pods.map(remove))
    return errors[0]
  }

  #chooseForDeletion(set: ReadonlyReplicaSet, pods: readonly ReadonlyPod[], count: number): readonly ReadonlyPod[] {
    if (count >= pods.length) return pods
    const perNode = new Map<string, number>()
    for (const { spec } of this.#relatedPods(set)) {
      const node = spec?.nodeName ?? ''
      perNode.set(node, (perNode.get(node) ?? 0) + 1)
    }
    const { clock, profile } = this.#context
    const rankOf = ({ spec }: ReadonlyPod) => perNode.get(spec?.nodeName ?? '') ?? 0
    return deletionOrder(pods, { nowMs: clock.now(), profile, rankOf }).slice(0, count)
  }

  /** Returns the active pods of all sets with the same controller, such as all sets of one Deployment. */
  #relatedPods(set: ReadonlyReplicaSet): readonly ReadonlyPod[] {
    const controller = controllerOf(set.metadata.ownerReferences)
    const sets = controller === undefined ? [set] : this.#siblings.get(controller.uid)
    return sets.flatMap((sibling) => this.#pods.of(sibling)).filter(isActive)
  }

  /** Writes the status against the version that was read. A conflicting change causes another sync. */
  async #writeStatus(set: ReadonlyReplicaSet, status: ReplicaStatus): Promise<void> {
    if (sameJson(set.status ?? {}, status)) return
    const { client, fieldManager, signal } = this.#context
    const changed = { ...(set as ReplicaSet), status }
    const request = client.update(this.#kind.resource, changed, { subresource: 'status', fieldManager, signal })
    await ignoreReasons(request, ['NotFound', 'Conflict'])
  }
}
