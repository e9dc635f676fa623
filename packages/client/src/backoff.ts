import type { Clock, Random } from '@krmkit/meta'

/** Waits on the clock. Rejects with the reason of the signal when it aborts. */
export function pause(ms: number, options: { readonly clock: Clock; readonly signal: AbortSignal | undefined }): Promise<void> {
  const { clock, signal } = options
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(reasonOf(signal))
      return
    }
    const onAbort = () => {
      cancel()
      reject(reasonOf(signal!))
    }
    const cancel = clock.setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason
  return reason instanceof Error ? reason : new Error(String(reason))
}

/**
 * Grows from try to try and starts again after success: 0.8 s, 1.6 s, ... up to 30 s, each up to twice as long by chance, so
 * that many clients do not come back at once.
 */
export class Backoff {
  readonly #random: Pick<Random, 'bytes'>
  #tries = 0

  constructor(random: Pick<Random, 'bytes'>) {
    this.#random = random
  }

  next(): number {
    const base = Math.min(30_000, 800 * 2 ** Math.min(this.#tries++, 10))
    const [chance = 0] = this.#random.bytes(1)
    return Math.round(base * (1 + chance / 256))
  }

  reset(): void {
    this.#tries = 0
  }
}
