import type { Informer } from '@krmkit/client'
import type { DeepReadonly } from '@krmkit/meta'
import { ObjectEvents } from '../events/object-events.ts'
import { ignoreNotFound, ignoreReasons } from '../framework/api-errors.ts'
import { sameJson } from '../framework/same-json.ts'
import type { ObjectIndex } from '../framework/shared-informers.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { RequeueAfter } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { tolerates } from '../workloads/node-selection.ts'
import { type Node, nodes, type Pod, pods, queueKey, type ReadonlyPod, splitKey, type Taint } from '../workloads/objects.ts'
import { deletePod } from '../workloads/pod-control.ts'
import { isTerminating } from '../workloads/pod-state.ts'
import { changePodStatus } from '../workloads/pod-status.ts'

/** Deletes pods from nodes with `NoExecute` taints that they do not tolerate, or tolerate only for a limited time. */
export const taintEvictionController: Controller = {
  name: 'taint-eviction-controller',
  isDefault: false,
  start: (context) => disposeSubscriptions(new TaintEvictionController(context).subscriptions),
}

class TaintEvictionController {
  readonly #context: ControllerContext
  readonly #pods: Informer<Pod>
  readonly #nodes: Informer<Node>
  readonly #byNode: ObjectIndex<Pod>
  readonly #events: ObjectEvents<Pod>
  /** Time at which the toleration of a pod began, by uid. */
  readonly #toleratedSince = new Map<string, number>()
  readonly subscriptions: readonly (() => void)[]

  constructor(context: ControllerContext) {
    const { informers, rateLimit } = context
    this.#context = context
    this.#events = new ObjectEvents(context, pods, 'taint-eviction-controller')
    this.#pods = informers.of(pods)
    this.#nodes = informers.of(nodes)
    this.#byNode = informers.index(pods, 'node', ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []))
    const queue = context.queue<string>({ sync: (key) => this.#sync(key), rateLimit })
    const enqueue = (pod: ReadonlyPod) => queue.add(queueKey(pod))
    const enqueuePodsOf = ({ metadata }: DeepReadonly<Node>) => {
      for (const pod of this.#byNode.get(metadata.name ?? '')) enqueue(pod)
    }
    this.subscriptions = [
      this.#nodes.on({
        added: enqueuePodsOf,
        updated(node, previous) {
          if (!sameJson(evicting(node), evicting(previous))) enqueuePodsOf(node)
        },
      }),
      this.#pods.on({
        added: enqueue,
        updated(pod, previous) {
          const isSame = sameJson(pod.spec?.tolerations ?? [], previous.spec?.tolerations ?? [])
          if (!isSame || pod.spec?.nodeName !== previous.spec?.nodeName) enqueue(pod)
        },
        deleted: ({ metadata }) => this.#toleratedSince.delete(metadata.uid ?? ''),
      }),
    ]
  }

  async #sync(key: string): Promise<RequeueAfter | undefined> {
    if (!this.#nodes.hasSynced) await this.#nodes.synced
    const { namespace, name } = splitKey(key)
    const pod = this.#pods.get(name, namespace)
    if (pod === undefined || isTerminating(pod)) return undefined
    const node = pod.spec?.nodeName ? this.#nodes.get(pod.spec.nodeName) : undefined
    const { uid = '' } = pod.metadata
    const seconds = node === undefined ? Number.POSITIVE_INFINITY : toleratedSeconds(pod, evicting(node))
    if (seconds === Number.POSITIVE_INFINITY) {
      if (this.#toleratedSince.delete(uid)) this.#record(pod, 'Cancelling deletion of')
      return undefined
    }
    const now = this.#context.clock.now()
    const since = this.#toleratedSince.get(uid) ?? now
    const deadline = since + seconds * 1000
    if (now < deadline) {
      this.#toleratedSince.set(uid, since)
      return { requeueAfterMs: deadline - now }
    }
    await this.#evict(pod)
    return undefined
  }

  #record(pod: ReadonlyPod, what: string): void {
    this.#events.normal(pod, 'TaintManagerEviction', `${what} Pod ${queueKey(pod)}`)
  }

  async #evict(pod: ReadonlyPod): Promise<void> {
    this.#record(pod, 'Marking for deletion')
    const message = 'Taint manager: deleting due to NoExecute taint'
    const condition = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager', message }
    await ignoreNotFound(changePodStatus(pod, { condition }, this.#context))
    await ignoreReasons(deletePod(pod, this.#context), ['NotFound', 'Conflict'])
  }
}

function evicting({ spec }: DeepReadonly<Node>): readonly DeepReadonly<Taint>[] {
  return spec?.taints?.filter(({ effect }) => effect === 'NoExecute') ?? []
}

/** Returns for how long a pod tolerates taints: zero without a toleration, infinity without a limit. */
function toleratedSeconds({ spec }: ReadonlyPod, taints: readonly DeepReadonly<Taint>[]): number {
  let shortest = Number.POSITIVE_INFINITY
  for (const taint of taints) {
    const matching = spec?.tolerations?.find((toleration) => tolerates(toleration, taint))
    if (matching === undefined) return 0
    shortest = Math.min(shortest, Math.max(0, matching.tolerationSeconds ?? Number.POSITIVE_INFINITY))
  }
  return shortest
}
