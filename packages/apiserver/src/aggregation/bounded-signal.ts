import type { Clock } from '@krmkit/meta'
import type { RequestState } from '../request-state.ts'

/** Aborts when the client goes away, when nobody waits for the answer any more, or after `ms`. */
export function boundedSignal(
  { signal, deadline }: Pick<RequestState, 'signal' | 'deadline'>,
  clock: Clock,
  ms?: number,
): { readonly signal: AbortSignal; readonly release: () => void } {
  const ended = new AbortController()
  const leave = (): void => ended.abort(signal.reason)
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  const left = Math.min(
    ms ?? Number.POSITIVE_INFINITY,
    deadline === undefined ? Number.POSITIVE_INFINITY : deadline - clock.now(),
  )
  const cancel = Number.isFinite(left)
    ? clock.setTimeout(() => ended.abort(new Error('context deadline exceeded')), Math.max(0, left))
    : undefined
  return {
    signal: ended.signal,
    release() {
      cancel?.()
      signal.removeEventListener('abort', leave)
    },
  }
}
