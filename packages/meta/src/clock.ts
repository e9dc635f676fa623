/** The system clocks, and a fake clock for tests. */

import type { Clock } from './interfaces.ts'

/** A clock that only moves when advanced. */
export interface FakeClock extends Clock {
  /**
   * Advances time and calls functions that become due, in order of time, including those registered on the way.
   *
   * @param ms Milliseconds, at least 0.
   */
  advance(ms: number): void
  /** Advances time to a point in milliseconds since the epoch, like `advance`. */
  advanceTo(ms: number): void
  /** Number of pending functions. */
  readonly pending: number
  /** Due time of the earliest pending function, in milliseconds since the epoch. */
  readonly nextAt: number | undefined
}

/** The system clock. Pending timers do not keep the process alive. */
export const systemClock: Clock = machineClock(false)

/** The system clock with timers that keep the process alive, for commands that wait before a retry. */
export const foregroundClock: Clock = machineClock(true)

/**
 * Creates a clock for tests that starts at `startMs`, milliseconds since the epoch.
 *
 * @example
 * import { fakeClock } from '@krmkit/meta'
 * const clock = fakeClock()
 * clock.setTimeout(() => console.log('due'), 1000)
 * clock.advance(1000) // due
 */
export function fakeClock(startMs = 0): FakeClock {
  let now = startMs
  let order = 0
  const waiting = new Map<number, { readonly at: number; readonly fn: () => void }>()

  const due = (until: number): number | undefined => {
    let best: number | undefined
    let bestAt = Number.POSITIVE_INFINITY
    for (const [id, { at }] of waiting) {
      if (at <= until && at < bestAt) {
        best = id
        bestAt = at
      }
    }
    return best
  }

  const advanceTo = (until: number): void => {
    for (let id = due(until); id !== undefined; id = due(until)) {
      const { at, fn } = waiting.get(id) as { at: number; fn: () => void }
      waiting.delete(id)
      now = Math.max(now, at)
      fn()
    }
    now = Math.max(now, until)
  }

  return {
    now: () => now,
    setTimeout(fn, ms) {
      const id = order++
      waiting.set(id, { at: now + Math.max(0, ms), fn })
      return () => {
        waiting.delete(id)
      }
    },
    advance: (ms) => advanceTo(now + ms),
    advanceTo,
    get pending() {
      return waiting.size
    },
    get nextAt() {
      const id = due(Number.POSITIVE_INFINITY)
      return id === undefined ? undefined : waiting.get(id)?.at
    },
  }
}

function machineClock(keepAlive: boolean): Clock {
  return {
    now: () => Date.now(),
    setTimeout(fn, ms) {
      let left = Math.max(0, ms)
      let timer: ReturnType<typeof setTimeout>
      const arm = () => {
        const step = Math.min(left, maxTimerMs)
        left -= step
        timer = setTimeout(left > 0 ? arm : fn, step)
        if (!keepAlive && typeof timer === 'object') timer.unref?.()
      }
      arm()
      return () => clearTimeout(timer)
    },
  }
}

/** Longest delay of a platform timer. */
const maxTimerMs = 2 ** 31 - 1
