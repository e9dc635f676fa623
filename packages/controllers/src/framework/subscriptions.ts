/** Creates the handle of a controller: disposing of it unsubscribes its handlers. */
export function disposeSubscriptions(subscriptions: Iterable<() => void>): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      for (const unsubscribe of subscriptions) unsubscribe()
    },
  }
}
