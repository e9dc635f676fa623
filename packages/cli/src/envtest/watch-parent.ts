/** Access to the parent process. */
export interface WatchParentOptions {
  /** Id of the process to watch; default: the current parent. */
  readonly initial?: number | undefined
  /** Returns the id of the current parent. */
  readonly parent: () => number
  /** Calls `fn` periodically; returns a function that stops. */
  readonly every: (fn: () => void) => () => void
}

/**
 * Calls `gone` once when the parent process has changed. A killed test harness does not stop its servers.
 *
 * @returns a function that ends the watch.
 */
export function watchParent({ parent, every, initial: first = parent() }: WatchParentOptions, gone: () => void): () => void {
  const stop = every(() => {
    if (parent() === first) return
    stop()
    gone()
  })
  return stop
}
