import { onNextTurn } from '@krmkit/meta/slices'
/**
 * Ordered writes that wait for the journal. While one batch is committed, the next one collects, so that many writers share one
 * flush to disk.
 *
 *     ordered --batch--> committing --durable--> visible, promise resolves
 *                                   --failed---> promise rejects, as does every later one
 */
import type { Entry, StorageEvent } from '../interfaces.ts'
import { StorageError } from '../storage-error.ts'
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

const maxBatchWrites = 8192
const maxBatchBytes = 8 * 1024 * 1024

export class WriteQueue {
  readonly #journal: Journal
  readonly #publish: (event: StorageEvent) => void
  readonly #newest = new Map<string, PendingWrite>()
  #collecting: QueuedWrite[] = []
  #isFlushing = false
  #failure: StorageError | undefined
  #whenIdle: (() => void)[] = []

  /** @param publish Makes a durable event visible; called in revision order. */
  constructor(journal: Journal, show: (event: StorageEvent) => void) {
    this.#journal = journal
    this.#publish = show
  }

  /** The error that later writes are rejected with, if any. */
  get failure(): StorageError | undefined {
    return this.#failure
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
      this.#fail([...batch, ...this.#collecting], cause)
      return
    }
    for (const { event, resolve } of batch) {
      if (this.#newest.get(event.key)?.event === event) this.#newest.delete(event.key)
      this.#publish(event)
      resolve(event.entry)
    }
    // On a later turn, so that the released writers join the next batch.
    if (this.#collecting.length > 0) onNextTurn(() => void this.#flush())
    else this.#notifyIdle()
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

  #fail(writes: readonly QueuedWrite[], cause: unknown): void {
    const problem = `a write could not be made durable: ${cause instanceof Error ? cause.message : String(cause)}`
    this.#failure = new StorageError({ code: 'Unavailable', reason: 'journal', problem, cause })
    this.#collecting = []
    this.#newest.clear()
    for (const { reject } of writes) reject(this.#failure)
    this.#notifyIdle()
  }

  #notifyIdle(): void {
    this.#isFlushing = false
    for (const resolve of this.#whenIdle.splice(0)) resolve()
  }
}
