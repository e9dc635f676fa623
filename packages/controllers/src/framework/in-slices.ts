import { createSliceScheduler, runInNewSlices } from '@krmkit/meta/slices'

const scheduler = createSliceScheduler()

/** Runs work on a large object in time slices, because the controllers may share their thread with a server. */
export function inSlices<T>(work: Generator<unknown, T>): Promise<T> {
  return runInNewSlices(work, scheduler)
}
