/**
 * Ordered writes that wait for the journal. While one batch is committed, the next one collects, so that many writers share one flush to
 * disk.
 *
 *     ordered --batch--> committing --durable--> visible, promise resolves
 *                                   --failed---> the journal is asked what it holds:
 *                                       stored ----> visible, promise resolves
 *                                       missing ---> promise rejects
 *                                       unknown ---> promise rejects, and the journal is asked again later
 *
 * After a failure, writes are refused for a second. Then the next write is tried, because a full disk may have space again.
 */
import { onNextTurn } from '@krmkit/base/work'
import type { Entry, Revision, StorageEvent } from '../interfaces.ts'
import { StorageError, type UnavailableReason } from '../storage-error.ts'
import type { Journal } from './journal.ts'

interface QueuedWrite {
  readonly event: StorageEvent
  readonly resolve: (entry: Entry) => void
  readonly reject: (error: StorageError) => void
}

/** The newest write to a key that is not visible yet. */
export interface PendingWrite {
  readonly event: StorageEvent
  /** Resolves when the write is visible. */
  readonly written: Promise<Entry>
}

export interface WriteQueueOptions {
  /** Makes a durable event visible; called in revision order. */
  readonly publish: (event: StorageEvent) => void
  /** Sets the revision that later writes follow. It is older than that of the last write. */
  readonly restart: (revision: Revision) => void
  /** Monotonic time in milliseconds. */
  readonly now: () => number
}

const maxBatchWrites = 8192
/** How long writes are refused after a failure, in milliseconds. */
const refusalMs = 1000
const maxBatchBytes = 8 * 1024 * 1024

export class WriteQueue {
  readonly #journal: Journal
  readonly #options: WriteQueueOptions
  readonly #newest = new Map<string, PendingWrite>()
  #collecting: QueuedWrite[] = []
  #isFlushing = false
  #failure: StorageError | undefined
  #refusedUntilMs = 0
  /** A failed batch that may or may not be stored. */
  #undecided: readonly QueuedWrite[] = []
  #whenIdle: (() => void)[] = []

  constructor(journal: Journal, options: WriteQueueOptions) {
    this.#journal = journal
    this.#options = options
  }

  /** The error that a write is to be rejected with, if any. */
  refusal(): StorageError | undefined {
    if (this.#failure === undefined || this.#isFlushing || this.#options.now() < this.#refusedUntilMs) return this.#failure
    const failure = this.#failure
    if (this.#undecided.length === 0) {
      this.#failure = undefined
      return undefined
    }
    this.#isFlushing = true
    void this.#recover(failure)
    return failure
  }

  newest(key: string): PendingWrite | undefined {
    return this.#newest.get(key)
  }

  /** Appends the event to the journal; resolves to its entry once durable and visible. */
  add(event: StorageEvent): Promise<Entry> {
    const written = new Promise<Entry>((resolve, reject) => {
      this.#collecting.push({ event, resolve, reject })
    })
    this.#newest.set(event.key, { event, written })
    if (!this.#isFlushing) {
      this.#isFlushing = true
      onNextTurn(() => void this.#flush())
    }
    return written
  }

  /** Resolves when no writes are pending. */
  idle(): Promise<void> {
    if (!this.#isFlushing) return Promise.resolve()
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve)
    })
  }

  async #flush(): Promise<void> {
    const batch = this.#takeBatch()
    try {
      await this.#journal.commit(batch.map(({ event }) => event))
    } catch (cause) {
      await this.#fail(batch, cause)
      return
    }
    this.#complete(batch)
    // Flush on a later turn, so that writers whose promises just resolved join the next batch.
    if (this.#collecting.length > 0) onNextTurn(() => void this.#flush())
    else this.#notifyIdle()
  }

  #complete(writes: readonly QueuedWrite[]): void {
    for (const { event, resolve } of writes) {
      if (this.#newest.get(event.key)?.event === event) this.#newest.delete(event.key)
      this.#options.publish(event)
      resolve(event.entry)
    }
  }

  #takeBatch(): QueuedWrite[] {
    let bytes = 0
    let count = 0
    while (count < this.#collecting.length && count < maxBatchWrites && bytes < maxBatchBytes) {
      bytes += this.#collecting[count]!.event.entry.value.byteLength
      count++
    }
    return this.#collecting.splice(0, count)
  }

  async #fail(batch: readonly QueuedWrite[], cause: unknown): Promise<void> {
    const failure = unavailable('journal', `a write could not be made durable: ${textOf(cause)}`, cause)
    this.#failure = failure
    const unsent = this.#collecting
    this.#collecting = []
    this.#undecided = batch
    await this.#recover(failure)
    this.#newest.clear()
    for (const { reject } of unsent) reject(failure)
  }

  /** Decides the outcome of the failed batch. */
  async #recover(failure: StorageError): Promise<void> {
    const batch = this.#undecided
    try {
      const stored = await this.#journal.recover()
      this.#complete(batch.filter(({ event }) => event.revision <= stored))
      for (const { event, reject } of batch) if (event.revision > stored) reject(failure)
      this.#undecided = []
      this.#options.restart(stored)
    } catch (cause) {
      const problem = `whether a write was made durable is not known: ${textOf(cause)}`
      for (const { reject } of batch) reject(unavailable('outcome', problem, cause))
    }
    this.#refusedUntilMs = this.#options.now() + refusalMs
    this.#notifyIdle()
  }

  #notifyIdle(): void {
    this.#isFlushing = false
    for (const resolve of this.#whenIdle.splice(0)) resolve()
  }
}

function unavailable(reason: UnavailableReason, problem: string, cause: unknown): StorageError {
  return new StorageError({ code: 'Unavailable', reason, problem, cause })
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
