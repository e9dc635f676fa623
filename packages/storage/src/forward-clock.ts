import type { Clock } from '@krmkit/meta'

/** A clock whose time does not go back: when that of `clock` is set back, it goes on from the latest time. */
export function forwardClock(clock: Clock): Clock {
  let latest = Number.NEGATIVE_INFINITY
  let ahead = 0
  return {
    now() {
      const now = clock.now() + ahead
      if (now < latest) ahead += latest - now
      else latest = now
      return latest
    },
    setTimeout: (fn, ms) => clock.setTimeout(fn, ms),
  }
}
