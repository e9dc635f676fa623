import { type Clock, systemClock } from '@krmkit/meta'

/** How long and how much a store remembers. Every backend takes these. */
export interface StorageOptions {
  /** Time for the history window. Default: the machine's, whose waiting calls do not keep the process alive. */
  readonly clock?: Clock
  /**
   * Milliseconds for which a revision can be read, listed and watched from after a newer one came. Default 5 minutes.
   *
   * @see API protocol specification, 8
   */
  readonly historyMs?: number
  /**
   * Bytes of superseded values (and 256 bytes for each event) to keep in memory for history. Default 64 MiB. Above it
   * the oldest goes before its time.
   */
  readonly historyBytes?: number
  /**
   * Milliseconds of history to keep whatever it weighs, so that a client always gets from its list to its watch: this
   * wins over `historyBytes`. Default 2 seconds.
   */
  readonly minHistoryMs?: number
  /** Events that may wait for a watcher before it is cut off, unless the watch says otherwise. Default 10 000. */
  readonly maxPending?: number
}

export type ResolvedOptions = Required<StorageOptions>

export function resolveOptions(options: StorageOptions): ResolvedOptions {
  const historyMs = options.historyMs ?? 5 * 60_000
  return {
    clock: options.clock ?? systemClock,
    historyMs,
    historyBytes: options.historyBytes ?? 64 * 1024 * 1024,
    minHistoryMs: Math.min(options.minHistoryMs ?? 2000, historyMs),
    maxPending: options.maxPending ?? 10_000,
  }
}
