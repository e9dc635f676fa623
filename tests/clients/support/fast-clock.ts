import type { Clock } from '@krmkit/meta'

/**
 * A clock that runs `speed` times as fast as real time, so that events that take a minute (bookmarks, the end of a watch) happen
 * within a test with real clients and sockets.
 */
export function fastClock(clock: Clock, speed: number): Clock {
  const start = clock.now()
  return {
    now: () => start + (clock.now() - start) * speed,
    setTimeout: (fn, ms) => clock.setTimeout(fn, ms / speed),
  }
}
