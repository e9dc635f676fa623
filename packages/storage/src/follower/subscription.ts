import { systemClock } from '@krmkit/meta'
import type { Revision } from '../interfaces.ts'
import type { RemoteBackend, RemoteEvent, RemoteSubscription } from './remote-backend.ts'

export interface SubscriptionOptions {
  /** The revision to continue after. */
  from(): Revision
  events(events: readonly RemoteEvent[]): void
  progress(revision: Revision): void
  /** Called when the events after `from` were compacted: loads the whole state again. */
  reload(): Promise<void>
  onError(error: unknown): void
}

const firstPauseMs = 50
const longestPauseMs = 3000
/** Interval of progress requests in milliseconds, which keep bookmarks recent when nothing changes. */
const progressEveryMs = 5000

/** Follows a remote store, and reconnects after lost connections. */
export class Subscription {
  readonly #backend: RemoteBackend
  readonly #options: SubscriptionOptions
  #open: RemoteSubscription | undefined
  #pauseMs = firstPauseMs
  #isClosed = false
  /** Ends the open subscription and reconnects. */
  #stop: (() => void) | undefined
  #cancelTimer: (() => void) | undefined
  #cancelProgress: (() => void) | undefined

  constructor(backend: RemoteBackend, options: SubscriptionOptions) {
    this.#backend = backend
    this.#options = options
  }

  start(): void {
    void this.#connect()
    this.#askRegularly()
  }

  /** Replaces a connection on which nothing arrives any more. */
  restart(): void {
    this.#stop?.()
  }

  requestProgress(): void {
    this.#open?.requestProgress()
  }

  close(): void {
    this.#isClosed = true
    this.#cancelTimer?.()
    this.#cancelProgress?.()
    this.#open?.close()
    this.#open = undefined
  }

  async #connect(): Promise<void> {
    try {
      // Set to false to ignore late calls of this connection after a reconnect.
      const isCurrent = { value: true }
      const stop = (again: () => Promise<void>) => {
        if (!isCurrent.value) return
        isCurrent.value = false
        this.#open?.close()
        this.#open = undefined
        if (!this.#isClosed) void again()
      }
      const open = await this.#backend.subscribe(this.#options.from(), {
        events: (events) => {
          if (!isCurrent.value || this.#isClosed) return
          this.#pauseMs = firstPauseMs
          this.#options.events(events)
        },
        progress: (revision) => {
          if (!isCurrent.value || this.#isClosed) return
          this.#pauseMs = firstPauseMs
          this.#options.progress(revision)
        },
        ended: (reason, error) => {
          if (!this.#isClosed && isCurrent.value && error !== undefined) this.#options.onError(error)
          stop(reason === 'compacted' ? () => this.#reload() : () => this.#later())
        },
      })
      if (this.#isClosed || !isCurrent.value) open.close()
      else {
        this.#open = open
        this.#stop = () => stop(() => this.#later())
      }
    } catch (error) {
      if (this.#isClosed) return
      this.#options.onError(error)
      await this.#later()
    }
  }

  async #reload(): Promise<void> {
    try {
      await this.#options.reload()
    } catch (error) {
      if (!this.#isClosed) this.#options.onError(error)
    }
    await this.#later()
  }

  async #later(): Promise<void> {
    if (this.#isClosed) return
    const pauseMs = this.#pauseMs
    this.#pauseMs = Math.min(longestPauseMs, pauseMs * 2)
    this.#cancelTimer = systemClock.setTimeout(() => void this.#connect(), pauseMs)
  }

  #askRegularly(): void {
    this.#cancelProgress = systemClock.setTimeout(() => {
      this.requestProgress()
      this.#askRegularly()
    }, progressEveryMs)
  }
}
