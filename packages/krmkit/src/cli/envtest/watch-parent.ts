/** What a process looks at to see that whoever started it has gone. */
export interface WatchParentOptions {
  /** Who started the process; undefined: whoever is the parent now. */
  readonly initial?: number | undefined
  /** Of the parent, now. */
  readonly parent: () => number
  /** Calls `fn` again and again; the answer ends it. */
  readonly every: (fn: () => void) => () => void
}

/**
 * Calls `gone` once when the parent has changed: a harness that was killed stops nobody, and its servers would stay for good.
 *
 * @returns ends the watch.
 */
export function watchParent({ parent, every, initial: first = parent() }: WatchParentOptions, gone: () => void): () => void {
  const stop = every(() => {
    if (parent() === first) return
    stop()
    gone()
  })
  return stop
}
