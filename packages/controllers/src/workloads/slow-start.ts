/** The outcome of calls in batches. */
export interface BatchOutcome {
  readonly successes: number
  /** The first error; undefined when all calls succeeded. */
  readonly error: unknown
}

/**
 * Calls a function `count` times in concurrent batches of 1, 2, 4 and so on. No batch follows one with a failure, so that
 * calls that would fail for the same reason are few.
 *
 * @param call receives the number of the call, from zero
 */
export async function slowStart(count: number, call: (index: number) => Promise<unknown>): Promise<BatchOutcome> {
  let successes = 0
  for (let started = 0, size = 1; started < count; size *= 2) {
    const batch = Array.from({ length: Math.min(size, count - started) }, (_, i) => call(started + i))
    started += batch.length
    const results = await Promise.allSettled(batch)
    const failures = results.filter((result) => result.status === 'rejected')
    successes += results.length - failures.length
    if (failures[0] !== undefined) return { successes, error: failures[0].reason }
  }
  return { successes, error: undefined }
}
