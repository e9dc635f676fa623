import type { NamingProfile } from '@krmkit/meta'
import type { Pod, ReadonlyPod } from '../workloads/objects.ts'
import { isAvailable, isFinished, isTerminating } from '../workloads/pod-state.ts'
import { slowStart } from '../workloads/slow-start.ts'
import {
  firstOrdinal,
  isHealthy,
  isInRange,
  isParallel,
  isRunningAndReady,
  ordinalOf,
  podOfSet,
  podRevision,
  type ReadonlyStatefulSet,
  replicasOf,
} from './objects.ts'
import type { StatefulPods } from './pod-control.ts'
import type { SetRevisions } from './status.ts'

export interface SetUpdateOptions extends SetRevisions {
  readonly control: StatefulPods
  readonly profile: NamingProfile
  readonly nowMs: number
}

/** The pod of an ordinal, or the need to create it. */
interface Replica {
  readonly ordinal: number
  /** Undefined when the pod must be created. */
  readonly pod: ReadonlyPod | undefined
}

/**
 * One step of a stateful set towards its spec. With ordered management, a pod is created or deleted only when all pods
 * before it are available; pods are created in ascending order and deleted in descending order. With parallel management,
 * all pods are processed at once.
 */
export class SetUpdate {
  readonly #set: ReadonlyStatefulSet
  readonly #options: SetUpdateOptions
  readonly #isOrdered: boolean
  readonly #replicas: readonly Replica[]
  /** Pods beyond the replicas, highest ordinal first. */
  readonly #condemned: readonly ReadonlyPod[]

  constructor(set: ReadonlyStatefulSet, pods: readonly ReadonlyPod[], options: SetUpdateOptions) {
    this.#set = set
    this.#options = options
    this.#isOrdered = !isParallel(set)
    const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod) ?? -1, pod]))
    this.#replicas = Array.from({ length: replicasOf(set) }, (_, i) => {
      const ordinal = firstOrdinal(set) + i
      return { ordinal, pod: byOrdinal.get(ordinal) }
    })
    this.#condemned = [...byOrdinal]
      .filter(([ordinal]) => !isInRange(set, ordinal))
      .sort(([a], [b]) => b - a)
      .map(([, pod]) => pod)
  }

  /** @returns the number of pods deleted because of their revision */
  async run(): Promise<number> {
    if (await this.#runForAll(this.#replicas, (replica) => this.#processReplica(replica))) return 0
    const { control } = this.#options
    for (const pod of this.#condemned) await control.updateClaims(this.#set, pod)
    if (await this.#runForAll(this.#condemned, (pod) => this.#processCondemned(pod))) return 0
    return this.#set.spec?.updateStrategy?.type === 'OnDelete' ? 0 : this.#replaceOutdated()
  }

  #newPod(ordinal: number): Promise<Pod> {
    const { current, update, profile } = this.#options
    const { type = 'RollingUpdate', rollingUpdate } = this.#set.spec?.updateStrategy ?? {}
    const kept =
      rollingUpdate === undefined
        ? type === 'RollingUpdate'
          ? (this.#set.status?.currentReplicas ?? 0)
          : 0
        : (rollingUpdate.partition ?? 0)
    return podOfSet(this.#set, ordinal < firstOrdinal(this.#set) + kept ? current : update, { ordinal, profile })
  }

  /** Runs a step for each item, in order until one returns true, or all at once. @returns whether to stop */
  async #runForAll<T>(items: readonly T[], step: (item: T) => Promise<boolean>): Promise<boolean> {
    if (this.#isOrdered) {
      for (const item of items) if (await step(item)) return true
      return false
    }
    const { error } = await slowStart(items.length, async (i) => step(items[i] as T))
    if (error !== undefined) throw error
    return false
  }

  /** @returns whether later pods must wait */
  async #processReplica(replica: Replica): Promise<boolean> {
    const set = this.#set
    const { control, nowMs } = this.#options
    const { ordinal, pod } = replica
    if (pod === undefined) {
      const missing = await this.#newPod(ordinal)
      if (!control.hasStaleClaim(set, missing)) await control.create(set, missing)
      return true
    }
    if (isFinished(pod)) {
      if (!isTerminating(pod)) await control.delete(set, pod)
      return true
    }
    if (pod.status?.phase === 'Pending') await control.createClaims(set, pod)
    if (this.#isOrdered) {
      if (isTerminating(pod) || !isRunningAndReady(pod)) return true
      if (!isAvailable(pod, set.spec?.minReadySeconds, nowMs)) return true
    }
    await control.restore(set, pod)
    return false
  }

  /** @returns whether later pods must wait */
  async #processCondemned(pod: ReadonlyPod): Promise<boolean> {
    if (isTerminating(pod)) return this.#isOrdered
    const isUnavailable = !isRunningAndReady(pod) || !isAvailable(pod, this.#set.spec?.minReadySeconds, this.#options.nowMs)
    if (this.#isOrdered && isUnavailable && pod !== this.#firstUnhealthy()) return true
    await this.#options.control.delete(this.#set, pod)
    return true
  }

  /** @returns the first unhealthy pod; undefined if there is none or it is missing */
  #firstUnhealthy(): ReadonlyPod | undefined {
    const pods = [...this.#replicas.map(({ pod }) => pod), ...this.#condemned.toReversed()]
    return pods.find((pod) => pod === undefined || !isHealthy(pod))
  }

  /**
   * Deletes the outdated pod with the highest ordinal once all pods above it are healthy. @returns the number of deleted
   * pods
   */
  async #replaceOutdated(): Promise<number> {
    const { control, update } = this.#options
    const first = this.#set.spec?.updateStrategy?.rollingUpdate?.partition ?? 0
    for (const replica of this.#replicas.slice(first).reverse()) {
      const { pod } = replica
      if (pod === undefined) return 0
      if (podRevision(pod) !== update.metadata.name && !isTerminating(pod)) {
        await control.delete(this.#set, pod)
        return 1
      }
      if (!isHealthy(pod)) return 0
    }
    return 0
  }
}
