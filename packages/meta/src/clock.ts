/**
 * Clocks: the machine's, and one that a test moves.
 */

import type { Clock } from './interfaces.ts'

/** A clock that stands still until it is moved. */
export interface FakeClock extends Clock {
  /**
   * Moves time on and calls what falls due, in order of time; calls that these set up inside the span happen too.
   *
   * @param ms milliseconds, at least 0
   */
  advance(ms: number): void
  /** Moves time to a moment, in milliseconds since the epoch, as `advance` does. */
  advanceTo(ms: number): void
  /** How many calls are waiting. */
  readonly pending: number
}

/** The clock of the machine. A waiting call does not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout(fn, ms) {
    let left = Math.max(0, ms)
    let timer: ReturnType<typeof setTimeout>
    const arm = () => {
      const step = Math.min(left, maxTimerMs)
      left -= step
      timer = setTimeout(left > 0 ? arm : fn, step)
      if (typeof timer === 'object') timer.unref?.()
    }
    arm()
    return () => clearTimeout(timer)
  },
}

/** A clock for tests. Time starts at `startMs`, milliseconds since the epoch. */
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
  }
}

/** The longest wait that one timer of the platform can do. */
const maxTimerMs = 2 ** 31 - 1
