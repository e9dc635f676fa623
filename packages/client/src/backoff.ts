import type { Clock, Random } from '@krmkit/meta'

/** Waits for `ms` milliseconds on the clock. Rejects with the reason of the signal when it aborts. */
export function sleep(ms: number, options: { readonly clock: Clock; readonly signal: AbortSignal | undefined }): Promise<void> {
  const { clock, signal } = options
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortReason(signal))
      return
    }
    const onAbort = () => {
      cancel()
      reject(abortReason(signal))
    }
    const cancel = clock.setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/** Returns the reason of an aborted signal as an Error. */
export function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason
  return reason instanceof Error ? reason : new Error(String(reason))
}

/**
 * Exponential backoff with jitter: 0.8 s, 1.6 s, ... up to 30 s, each extended by up to 100 % at random, so that clients do
 * not retry in step. Starts over after `reset`.
 */
export class Backoff {
  readonly #random: Pick<Random, 'bytes'>
  #tries = 0

  constructor(random: Pick<Random, 'bytes'>) {
    this.#random = random
  }

  /** Returns the delay before the next attempt, in milliseconds. */
  next(): number {
    const base = Math.min(30_000, 800 * 2 ** Math.min(this.#tries++, 10))
    const [jitter = 0] = this.#random.bytes(1)
    return Math.round(base * (1 + jitter / 256))
  }

  reset(): void {
    this.#tries = 0
  }
}
