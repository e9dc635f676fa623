import type { Clock } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import type { RequestContext } from '../request-context.ts'

/** An end for a request that is passed on: the client goes away, nobody waits any more, or `ms` have passed. */
export interface RequestDeadline {
  readonly signal: AbortSignal
  /** The answer has begun: it may take its time now, but goes with the client. */
  responseStarted(response: ApiResponse): ApiResponse
  /** Nothing is to be ended any more. */
  release(): void
}

export function createRequestDeadline(
  { signal, deadline }: Pick<RequestContext, 'signal' | 'deadline'>,
  clock: Clock,
  ms?: number,
): RequestDeadline {
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
  const release = (): void => {
    cancel?.()
    signal.removeEventListener('abort', leave)
  }
  return {
    signal: ended.signal,
    responseStarted(response) {
      cancel?.()
      const { body } = response
      if (body.kind === 'stream') return { ...response, body: { kind: 'stream', stream: followed(body.stream, release) } }
      release()
      return response
    },
    release,
  }
}

/** Calls `over` when a stream has ended, in whatever way. */
function followed(stream: AsyncIterable<Uint8Array>, over: () => void): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = stream[Symbol.asyncIterator]()
      return {
        async next() {
          try {
            const result = await iterator.next()
            if (result.done === true) over()
            return result
          } catch (error) {
            over()
            throw error
          }
        },
        async return() {
          over()
          await iterator.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
