/** A stretch of time from now on, of which matters whether a second of the clock begins in it. */
export class SecondSpan {
  readonly #second = currentSecond()

  /** Whether a second has begun since. */
  get isSplit(): boolean {
    return currentSecond() !== this.#second
  }
}

/** The result of a run. */
export interface TimedResult<T> {
  readonly result: T
  /** Whether a second began where it may have changed the result. */
  readonly isSplit: boolean
}

/** How often a run is repeated. */
const mostRepetitions = 8

/**
 * Times in objects have whole seconds, and what a write changes may depend on whether it is in the second of an earlier one. So two
 * servers may differ when a second begins while they work: such a result counts only if it is there without that, too.
 *
 * @param isSuspect whether a second may have caused the result
 * @returns the first result, and that of the last repetition; the same if there was none
 */
export async function withoutSplit<T>(
  run: () => Promise<TimedResult<T>>,
  isSuspect: (result: T) => boolean,
): Promise<{ readonly first: T; readonly last: T }> {
  let { result, isSplit } = await run()
  const first = result
  for (let i = 0; i < mostRepetitions && isSplit && isSuspect(result); i++) ({ result, isSplit } = await run())
  return { first, last: result }
}

function currentSecond(): number {
  return Math.floor(Date.now() / 1000)
}
