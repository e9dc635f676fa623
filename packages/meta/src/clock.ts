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
  /** When the earliest waiting call falls due, in milliseconds since the epoch. */
  readonly nextAt: number | undefined
}

/** The clock of the machine. A waiting call does not keep the process alive. */
export const systemClock: Clock = machineClock(false)

/** The clock of the machine; a waiting call keeps the process alive, as a command wants that waits before its next try. */
export const foregroundClock: Clock = machineClock(true)

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

/** The longest wait that one timer of the platform can do. */
const maxTimerMs = 2 ** 31 - 1
