import { createTurns, runInLaterTurns, type Work } from '@krmkit/base/work'

const turns = createTurns()

/** Runs work on a large object in time slices, because the controllers may share their thread with a server. */
export function inSlices<T>(work: Work<T>): Promise<T> {
  return runInLaterTurns(work, turns)
}
