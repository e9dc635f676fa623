import type { Revision } from '../interfaces.ts'
import type { StorageError } from '../storage-error.ts'

interface Waiter {
  readonly revision: Revision
  readonly finish: (outcome: boolean | StorageError) => void
}

/** Callers that wait for a revision to become visible. */
export class RevisionWaiters {
  readonly #waiters = new Set<Waiter>()
  #nearest: Revision = Number.POSITIVE_INFINITY

  /** Resolves to true when the revision is reached, to false when the signal aborts first. */
  wait(revision: Revision, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false)
    return new Promise((resolve, reject) => {
      const onAbort = () => waiter.finish(false)
      const waiter: Waiter = {
        revision,
        finish: (outcome) => {
          signal.removeEventListener('abort', onAbort)
          this.#waiters.delete(waiter)
          if (typeof outcome === 'boolean') resolve(outcome)
          else reject(outcome)
        },
      }
      signal.addEventListener('abort', onAbort)
      this.#waiters.add(waiter)
      this.#nearest = Math.min(this.#nearest, revision)
    })
  }

  /** Resolves the waiters for this and earlier revisions. */
  resolveReached(revision: Revision): void {
    if (revision < this.#nearest) return
    this.#nearest = Number.POSITIVE_INFINITY
    for (const waiter of [...this.#waiters]) {
      if (waiter.revision <= revision) waiter.finish(true)
      else this.#nearest = Math.min(this.#nearest, waiter.revision)
    }
  }

  rejectAll(error: StorageError): void {
    for (const waiter of [...this.#waiters]) waiter.finish(error)
  }
}
