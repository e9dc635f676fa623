import { type Members, membersProblem } from '@krmkit/base/arguments'
import { type Clock, systemClock } from '@krmkit/meta'
import { forwardClock } from './forward-clock.ts'
import { invalidArgument } from './storage-error.ts'

/** Limits of history and watchers, for every backend. */
export interface StorageOptions {
  /**
   * Clock of the history window. When the clock is set back, time continues from the latest value. Default: the system clock, whose timers
   * do not keep the process alive.
   */
  readonly clock?: Clock
  /**
   * How long a revision stays readable after a newer one was written, in milliseconds. Default 5 minutes.
   *
   * @see API protocol specification, 8
   */
  readonly historyMs?: number
  /**
   * Maximum bytes of superseded values (plus 256 bytes per event), in memory or, for a durable store, in its files. Default 64 MiB.
   * Above it, the oldest history is dropped early.
   */
  readonly historyBytes?: number
  /**
   * Minimum age of dropped history in milliseconds, so that clients can start a watch after their list; takes precedence over
   * `historyBytes`. Default 2 seconds.
   */
  readonly minHistoryMs?: number
  /** Default of `StorageWatchOptions.maxPending`. Default 10 000. */
  readonly maxPending?: number
}

export type ResolvedOptions = Required<StorageOptions>

const knownOptions: Members<StorageOptions> = {
  clock: true,
  historyMs: true,
  historyBytes: true,
  minHistoryMs: true,
  maxPending: true,
}

const limits = ['historyMs', 'historyBytes', 'minHistoryMs', 'maxPending'] as const

/** @throws StorageError `InvalidArgument` for unknown options, because a misspelt option would be ignored */
export function checkOptionNames(call: string, options: StorageOptions): void {
  const problem = membersProblem(call, options, knownOptions)
  if (problem !== undefined) throw invalidArgument(problem)
}

/** @throws StorageError `InvalidArgument` for limits that are not numbers, or are negative */
export function resolveOptions(options: StorageOptions): ResolvedOptions {
  for (const name of limits) {
    const value: unknown = options[name]
    if (value !== undefined && !(typeof value === 'number' && value >= 0))
      throw invalidArgument(
        `${name} is a number from 0, not ${typeof value === 'string' ? JSON.stringify(value) : String(value)}`,
      )
  }
  const historyMs = options.historyMs ?? 5 * 60_000
  return {
    clock: forwardClock(options.clock ?? systemClock),
    historyMs,
    historyBytes: options.historyBytes ?? 64 * 1024 * 1024,
    minHistoryMs: Math.min(options.minHistoryMs ?? 2000, historyMs),
    maxPending: options.maxPending ?? 10_000,
  }
}
