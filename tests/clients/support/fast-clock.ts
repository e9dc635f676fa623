import type { Clock } from '@krmkit/meta'

/**
 * A clock that runs `speed` times as fast as the machine's, from the present on: what takes a minute elsewhere (bookmarks, the
 * end of a watch) happens in a test that talks to real clients over real sockets.
 */
export function fastClock(clock: Clock, speed: number): Clock {
  const start = clock.now()
  return {
    now: () => start + (clock.now() - start) * speed,
    setTimeout: (fn, ms) => clock.setTimeout(fn, ms / speed),
  }
}
