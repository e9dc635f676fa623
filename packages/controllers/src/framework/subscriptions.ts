/** Creates the handle of a controller, which unsubscribes all handlers when disposed. */
export function disposeSubscriptions(subscriptions: Iterable<() => void>): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      for (const unsubscribe of subscriptions) unsubscribe()
    },
  }
}
