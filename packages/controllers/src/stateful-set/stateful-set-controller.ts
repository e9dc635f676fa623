import type { Informer } from '@krmkit/client'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { labelSelectorFromObject } from '@krmkit/meta/selectors'
import { ignoreReasons } from '../framework/api-errors.ts'
import { sameJson } from '../framework/same-json.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { RequeueAfter } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { queueKey, type ReadonlyPod, splitKey } from '../workloads/objects.ts'
import { OwnedPods } from '../workloads/owned-pods.ts'
import { nextAvailableAtMs } from '../workloads/pod-state.ts'
import { type ReadonlyRevision, RevisionHistory } from '../workloads/revisions.ts'
import { CompletedTemplates } from './completed-template.ts'
import {
  ordinalOf,
  podRevision,
  type ReadonlyStatefulSet,
  type StatefulSet,
  type StatefulSetStatus,
  statefulSets,
} from './objects.ts'
import { StatefulPods } from './pod-control.ts'
import { type SetRevisions, setStatus } from './status.ts'
import { SetUpdate } from './update.ts'

/** Maintains the numbered pods of stateful sets and their claims. */
export const statefulSetController: Controller = {
  name: 'statefulset-controller',
  isDefault: false,
  start: (context) => disposeSubscriptions(new StatefulSetController(context).subscriptions),
}

const defaultHistoryLimit = 10

class StatefulSetController {
  readonly #context: ControllerContext
  readonly #sets: Informer<StatefulSet>
  readonly #pods: OwnedPods<StatefulSet>
  readonly #history: RevisionHistory
  readonly #control: StatefulPods
  /** Absent: each difference of a template makes a new revision. */
  readonly #templates: CompletedTemplates | undefined
  readonly subscriptions: readonly (() => void)[]

  constructor(context: ControllerContext) {
    const { informers, profile, rateLimit } = context
    this.#context = context
    this.#sets = informers.of(statefulSets)
    this.#history = new RevisionHistory(context, statefulSets, { hashLabel: `controller.${profile.domain}/hash` })
    this.#control = new StatefulPods(context)
    const isSemantic = gateEnabled('StatefulSetSemanticRevisionComparison', context.features)
    this.#templates = isSemantic ? new CompletedTemplates(context) : undefined
    const queue = context.queue<string>({ sync: (key) => this.#sync(key), rateLimit })
    const enqueue = (set: ReadonlyStatefulSet) => queue.add(queueKey(set))
    this.#pods = new OwnedPods({
      context,
      owners: this.#sets,
      resource: statefulSets,
      selectorOf: ({ spec }) => (spec?.selector == null ? undefined : labelSelectorFromObject(spec.selector)),
      changed: enqueue,
    })
    this.subscriptions = [this.#sets.on({ added: enqueue, updated: enqueue }), this.#pods.subscribe()]
  }

  async #sync(key: string): Promise<RequeueAfter | undefined> {
    await this.#pods.synced()
    await this.#history.synced()
    await this.#control.synced()
    const { namespace, name } = splitKey(key)
    const set = this.#sets.get(name, namespace)
    if (set?.spec?.selector == null) return undefined
    const known = await this.#history.list(set, labelSelectorFromObject(set.spec.selector))
    const claimed = await this.#pods.claim(set, () => true, { accepts: (pod) => ordinalOf(set, pod) !== undefined })
    const templates = this.#templates
    const completed = templates === undefined ? undefined : (newest: ReadonlyRevision) => templates.of(set, newest)
    const { revision: update, collisionCount } = await this.#history.update(set, known, completed)
    const current = known.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update
    const revisions: SetRevisions = { current, update, collisionCount }
    // The status and the delay of the next sync use the same clock reading. With two readings, a pod that becomes available
    // between them would be missed.
    const nowMs = this.#context.clock.now()
    const failure = await this.#update(set, claimed, { ...revisions, nowMs })
    await this.#truncate(set, claimed, { known, revisions })
    if (failure !== undefined) throw failure
    const availableAt = nextAvailableAtMs(claimed, set.spec.minReadySeconds, nowMs)
    return availableAt === undefined ? undefined : { requeueAfterMs: availableAt - nowMs }
  }

  /** Moves the pods towards the spec and writes the status. @returns the error that stopped the update */
  async #update(
    set: ReadonlyStatefulSet,
    pods: readonly ReadonlyPod[],
    { nowMs, ...revisions }: SetRevisions & { readonly nowMs: number },
  ): Promise<unknown> {
    let deletedForUpdate = 0
    let failure: unknown
    if (set.metadata.deletionTimestamp === undefined) {
      const { profile } = this.#context
      const update = new SetUpdate(set, pods, { ...revisions, nowMs, profile, control: this.#control })
      try {
        deletedForUpdate = await update.run()
      } catch (error) {
        failure = error
      }
    }
    await this.#writeStatus(set, setStatus(set, pods, { ...revisions, nowMs, deletedForUpdate }))
    return failure
  }

  /** Deletes revisions beyond the history limit that no pod uses. */
  async #truncate(
    set: ReadonlyStatefulSet,
    pods: readonly ReadonlyPod[],
    { known, revisions }: { readonly known: readonly ReadonlyRevision[]; readonly revisions: SetRevisions },
  ): Promise<void> {
    const live = new Set([revisions.current.metadata.name, revisions.update.metadata.name, ...pods.map(podRevision)])
    const unused = known.filter(({ metadata }) => !live.has(metadata.name))
    const limit = set.spec?.revisionHistoryLimit ?? defaultHistoryLimit
    await this.#history.delete(unused.slice(0, Math.max(0, unused.length - limit)))
  }

  /** Writes the status against the version that was read. A conflicting change causes another sync. */
  async #writeStatus(set: ReadonlyStatefulSet, status: StatefulSetStatus): Promise<void> {
    if (sameJson(set.status ?? {}, status)) return
    const { client, fieldManager, signal } = this.#context
    const changed = { ...(set as StatefulSet), status }
    const request = client.update(statefulSets, changed, { subresource: 'status', fieldManager, signal })
    await ignoreReasons(request, ['NotFound', 'Conflict'])
  }
}
