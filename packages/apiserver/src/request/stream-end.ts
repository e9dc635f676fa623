/**
 * Returns the items unchanged, and calls `onEnd` when the iteration completes, fails or is cancelled. `onEnd` may be called more than once.
 */
export function withEndCallback<T>(items: AsyncIterable<T>, onEnd: () => void | Promise<void>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = items[Symbol.asyncIterator]()
      return {
        async next() {
          try {
            const result = await iterator.next()
            if (result.done === true) await onEnd()
            return result
          } catch (error) {
            await onEnd()
            throw error
          }
        },
        async return(value?: unknown) {
          try {
            return (await iterator.return?.(value)) ?? { done: true as const, value: undefined }
          } finally {
            await onEnd()
          }
        },
      }
    },
  }
}
