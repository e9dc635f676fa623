import type { Clock } from '@krmkit/meta'

export interface DeadlineOptions {
  readonly clock: Clock
  /** Time limit in milliseconds; `Infinity` means none. */
  readonly ms: number
  /** Aborting it aborts the deadline's signal with the same reason. */
  readonly parent?: AbortSignal
  /** Reason of the abort at the time limit. */
  readonly error?: Error
}

/** An abort signal with a time limit. Release it when the work is done. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Whether the time limit, and not the parent, aborted the signal. */
  readonly isExceeded: boolean
  /** Lifts the time limit; the parent can still abort. */
  lift(): void
  /** Lifts the time limit and detaches from the parent. */
  release(): void
}

export function createDeadline(options: DeadlineOptions): Deadline {
  const { clock, ms, parent, error = new Error('context deadline exceeded') } = options
  const controller = new AbortController()
  const onAbort = (): void => controller.abort(parent?.reason)
  if (parent?.aborted === true) onAbort()
  else parent?.addEventListener('abort', onAbort, { once: true })
  const cancel = Number.isFinite(ms) ? clock.setTimeout(() => controller.abort(error), Math.max(0, ms)) : undefined
  return {
    signal: controller.signal,
    get isExceeded() {
      return controller.signal.reason === error
    },
    lift: () => cancel?.(),
    release() {
      cancel?.()
      parent?.removeEventListener('abort', onAbort)
    },
  }
}
