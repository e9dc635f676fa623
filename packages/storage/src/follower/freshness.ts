import { systemClock } from '@krmkit/meta'
import type { Revision } from '../interfaces.ts'
import type { MvccState } from '../mvcc/mvcc-state.ts'
import { StorageError } from '../storage-error.ts'

export interface FreshnessOptions {
  /** The newest revision of the remote store. */
  newest(): Promise<Revision>
  readonly state: MvccState
  requestProgress(): void
  /** Called when a revision of the remote store does not arrive in time, so that the subscription must be dead. */
  onStalled(): void
  readonly timeoutMs: number
}

/**
 * How long to wait for the events of a revision before requesting progress, in milliseconds. Only a revision that changed nothing below the
 * prefix, and so has no events, needs the request.
 */
const firstProgressMs = 10
/** Interval of further progress requests while a reader waits, in milliseconds, as on kube-apiserver. */
const progressEveryMs = 100

/** Waits until the local state is as new as a revision, or as the remote store. */
export class Freshness {
  readonly #options: FreshnessOptions
  /** The running read of the newest revision, and the read that starts after it. */
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #waiting = 0
  #cancelRequest: (() => void) | undefined

  constructor(options: FreshnessOptions) {
    this.#options = options
  }

  /**
   * Resolves when the state reflects every write that was acknowledged before the call. Concurrent calls share one read.
   *
   * @throws StorageError `Unavailable`
   */
  refresh(): Promise<void> {
    // The running read may have begun before a write that this call must see.
    if (this.#running === undefined) return this.#start()
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined
        return this.#start()
      })
    return this.#next
  }

  /** Resolves when the state has reached the revision. @throws StorageError `Unavailable` when it does not in time */
  async reach(revision: Revision): Promise<void> {
    const { state, timeoutMs } = this.#options
    if (revision <= state.revision) return
    const giveUp = new AbortController()
    const cancel = systemClock.setTimeout(() => giveUp.abort(), timeoutMs)
    try {
      if (await this.waitFor(revision, giveUp.signal)) return
    } finally {
      cancel()
    }
    this.#options.onStalled()
    throw new StorageError({ code: 'Unavailable', reason: 'remote', problem: `revision ${revision} has not arrived in time` })
  }

  /** Resolves to true when the revision is visible, to false when the signal aborts first. */
  async waitFor(revision: Revision, signal: AbortSignal): Promise<boolean> {
    const { state } = this.#options
    if (revision <= state.revision) return true
    this.#waiting++
    if (this.#waiting === 1) this.#requestProgressIn(firstProgressMs)
    try {
      return await state.waitFor(revision, signal)
    } finally {
      this.#waiting--
      if (this.#waiting === 0) this.#cancelRequest?.()
    }
  }

  close(): void {
    this.#cancelRequest?.()
  }

  #start(): Promise<void> {
    const running = this.#refresh().finally(() => {
      if (this.#running === running) this.#running = undefined
    })
    this.#running = running
    return running
  }

  async #refresh(): Promise<void> {
    let newest: Revision
    try {
      newest = await this.#options.newest()
    } catch (cause) {
      const problem = cause instanceof Error ? cause.message : String(cause)
      throw new StorageError({ code: 'Unavailable', reason: 'remote', problem, cause })
    }
    await this.reach(newest)
  }

  /** Requests progress after a delay, because revisions without events here arrive only as progress. */
  #requestProgressIn(milliseconds: number): void {
    this.#cancelRequest?.()
    this.#cancelRequest = systemClock.setTimeout(() => {
      this.#options.requestProgress()
      this.#requestProgressIn(progressEveryMs)
    }, milliseconds)
  }
}
