import type { Clock } from '@krmkit/meta'
import type { PodInfo } from './node-info.ts'

/** A pod that waits to be scheduled. */
export interface QueuedPod {
  readonly info: PodInfo
  /** When the pod was last queued, in milliseconds since the epoch. */
  readonly queuedAtMs: number
  /** Plugins that rejected the pod in the last attempt. */
  readonly plugins: ReadonlySet<string>
  readonly attempts: number
}

/** A cluster event that may make pods schedulable. */
export type ClusterEvent = 'node' | 'pod-removed' | 'pod-added' | 'pod-scaled-down' | 'pod-labels' | 'volume' | 'namespace'

const initialBackoffMs = 1000
const maxBackoffMs = 10_000
/** Maximum time until a pod is retried without an event. */
const maxWaitMs = 5 * 60_000

/** The plugins for which an event can change the outcome. Absent: all plugins. */
const concerned: Readonly<Record<ClusterEvent, readonly string[] | undefined>> = {
  node: undefined,
  'pod-removed': ['NodeResourcesFit', 'NodePorts', 'InterPodAffinity', 'PodTopologySpread', 'VolumeRestrictions'],
  'pod-added': ['InterPodAffinity', 'PodTopologySpread'],
  'pod-scaled-down': ['NodeResourcesFit'],
  'pod-labels': ['InterPodAffinity', 'PodTopologySpread'],
  volume: ['VolumeBinding'],
  namespace: ['InterPodAffinity'],
}

/**
 * The scheduling queue: pods that wait for a node.
 *
 *     add --> active --pop--> attempt --bound--> removed
 *               ^                \--refused--> waiting --event--> backing off --> active
 *               \-------------------------------/ (the backoff has passed)
 *
 * The active pod with the highest priority comes first, then the one that was queued first.
 */
export class SchedulingQueue {
  readonly #clock: Clock
  readonly #onActive: () => void
  readonly #active = new Map<string, QueuedPod>()
  readonly #waiting = new Map<string, QueuedPod & { readonly sinceMs: number }>()
  readonly #timers = new Map<string, () => void>()
  /** Recent events with their numbers, so that an event during an attempt is not missed. */
  #events: { readonly event: ClusterEvent; readonly number: number }[] = []
  #number = 0

  constructor(clock: Clock, onActive: () => void) {
    this.#clock = clock
    this.#onActive = onActive
  }

  /** Number of the last event; pass it to `refuse` after the attempt. */
  get eventNumber(): number {
    return this.#number
  }

  /** Adds a pod, or replaces the information of a queued pod. */
  add(info: PodInfo): void {
    const waiting = this.#waiting.get(info.uid)
    const active = this.#active.get(info.uid)
    if (waiting !== undefined && waiting.info.pod.metadata.generation === info.pod.metadata.generation) {
      this.#waiting.set(info.uid, { ...waiting, info })
      return
    }
    this.remove(info.uid)
    const { queuedAtMs = this.#clock.now(), attempts = 0 } = waiting ?? active ?? {}
    this.#activate({ info, queuedAtMs, attempts, plugins: new Set() })
  }

  remove(uid: string): void {
    this.#active.delete(uid)
    this.#waiting.delete(uid)
    this.#timers.get(uid)?.()
    this.#timers.delete(uid)
  }

  /** Takes the next pod. */
  pop(): QueuedPod | undefined {
    let first: QueuedPod | undefined
    for (const queued of this.#active.values()) {
      const order = first === undefined ? -1 : first.info.priority - queued.info.priority || queued.queuedAtMs - first.queuedAtMs
      if (order < 0) first = queued
    }
    if (first !== undefined) this.#active.delete(first.info.uid)
    if (this.#active.size === 0) this.#events = []
    return first === undefined ? undefined : { ...first, attempts: first.attempts + 1 }
  }

  /** Returns a pod to the queue after a failed attempt that began at the event number `since`. */
  refuse(queued: QueuedPod, since: number): void {
    const { uid } = queued.info
    this.#waiting.set(uid, { ...queued, sinceMs: this.#clock.now() })
    const missed = this.#events.some(({ event, number }) => number > since && isConcerned(queued, event))
    if (missed) this.#release(uid)
    else this.#arm(uid, maxWaitMs)
  }

  /** Requeues the pods whose outcome an event can change. */
  notify(event: ClusterEvent): void {
    this.#events.push({ event, number: ++this.#number })
    if (this.#events.length > 1000) this.#events.splice(0, 500)
    for (const [uid, queued] of this.#waiting) if (isConcerned(queued, event)) this.#release(uid)
  }

  stop(): void {
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
  }

  /** Moves a waiting pod to the active ones when its backoff has passed. */
  #release(uid: string): void {
    const queued = this.#waiting.get(uid)
    if (queued === undefined) return
    const backoffMs = Math.min(maxBackoffMs, initialBackoffMs * 2 ** Math.min(queued.attempts - 1, 10))
    const leftMs = queued.sinceMs + backoffMs - this.#clock.now()
    if (leftMs > 0) this.#arm(uid, leftMs)
    else this.#activateWaiting(uid)
  }

  #arm(uid: string, ms: number): void {
    this.#timers.get(uid)?.()
    this.#timers.set(
      uid,
      this.#clock.setTimeout(() => this.#activateWaiting(uid), ms),
    )
  }

  #activateWaiting(uid: string): void {
    const queued = this.#waiting.get(uid)
    this.remove(uid)
    if (queued !== undefined) this.#activate({ ...queued, queuedAtMs: this.#clock.now() })
  }

  #activate(queued: QueuedPod): void {
    this.#active.set(queued.info.uid, queued)
    this.#onActive()
  }
}

function isConcerned({ plugins }: QueuedPod, event: ClusterEvent): boolean {
  const names = concerned[event]
  return names === undefined || plugins.size === 0 || names.some((name) => plugins.has(name))
}
