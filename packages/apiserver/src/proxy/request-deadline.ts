import type { Clock } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import type { RequestContext } from '../request/context.ts'
import { createDeadline } from '../request/deadline.ts'
import { withEndCallback } from '../request/stream-end.ts'

/** Ends a proxied request when the client goes away, the request times out, or `ms` have passed. */
export interface RequestDeadline {
  readonly signal: AbortSignal
  /** Called when the response has begun. Lifts the time limit, and releases the deadline when the body ends. */
  responseStarted(response: ApiResponse): ApiResponse
  release(): void
}

export function createRequestDeadline(
  { signal, deadline }: Pick<RequestContext, 'signal' | 'deadline'>,
  clock: Clock,
  ms: number = Number.POSITIVE_INFINITY,
): RequestDeadline {
  const remainingMs = deadline === undefined ? Number.POSITIVE_INFINITY : deadline - clock.now()
  const limit = createDeadline({ clock, ms: Math.min(ms, remainingMs), parent: signal })
  const { release } = limit
  return {
    signal: limit.signal,
    responseStarted(response) {
      limit.lift()
      const { body } = response
      if (body.kind === 'stream') return { ...response, body: { kind: 'stream', stream: withEndCallback(body.stream, release) } }
      release()
      return response
    },
    release,
  }
}
