import type { Clock } from '@krmkit/meta'

/** A clock whose time never decreases: when `clock` is set back, the time continues from the latest one. */
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
