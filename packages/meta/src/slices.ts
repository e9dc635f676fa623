/**
 * Time slicing of long synchronous work, so that one large request does not delay others.
 *
 *     const slices = new Slices(scheduler)
 *     for (const item of items) {
 *       work(item)
 *       if (slices.due()) await slices.next()
 *     }
 *
 * @see docs/decisions/0011-bounded-work.md
 */

export {
  isEmptyObject,
  isLargeValue,
  largeMapSize,
  memberCountOfLargeMap,
  memberNames,
  rememberKey,
  rememberMemberNames,
} from './large-maps.ts'
export { sortSteps } from './sort-steps.ts'

/** Resumes waiting jobs, one per turn of the event loop, first come first served. One per server. */
export interface SliceScheduler {
  /** Resolves in a later turn of the event loop, after pending I/O was handled. */
  next(): Promise<void>
}

/** Default duration of a slice, in milliseconds. */
export const defaultSliceMs = 8

/**
 * Creates the scheduler that the long jobs of one server share.
 *
 * @example
 * import { createSliceScheduler, Slices } from '@krmkit/meta/slices'
 * const slices = new Slices(createSliceScheduler())
 * const words: string[] = []
 * for (const line of ['a', 'b']) {
 *   words.push(line.toUpperCase())
 *   if (slices.due()) await slices.next()
 * }
 */
export function createSliceScheduler(): SliceScheduler {
  const waiting: (() => void)[] = []
  let scheduled = false
  const run = (): void => {
    scheduled = false
    const resume = waiting.shift()
    if (waiting.length > 0) schedule()
    resume?.()
  }
  const schedule = (): void => {
    scheduled = true
    onNextTurn(run)
  }
  return {
    next: () =>
      new Promise((resolve) => {
        waiting.push(resolve)
        if (!scheduled) schedule()
      }),
  }
}

/**
 * Calls `run` on the next turn of the event loop. Uses `setImmediate` if available; browsers have timers only.
 *
 * @example
 * import { onNextTurn } from '@krmkit/meta/slices'
 * onNextTurn(() => console.log('after pending I/O'))
 */
export function onNextTurn(run: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(run)
  else setTimeout(run, 0)
}

/** Number of `due` calls per clock read. */
const callsPerClockRead = 16

/** The time slices of one job. */
export class Slices {
  readonly #scheduler: SliceScheduler
  readonly #sliceMs: number
  #endsAt: number
  #asked = 0

  constructor(scheduler: SliceScheduler, { sliceMs = defaultSliceMs }: { readonly sliceMs?: number } = {}) {
    this.#scheduler = scheduler
    this.#sliceMs = sliceMs
    this.#endsAt = performance.now() + sliceMs
  }

  /**
   * Whether the current slice has used up its time. Cheap enough for every iteration of a loop: only every 16th call reads the
   * clock.
   *
   * @param now Reads the clock on this call, for loops with long iterations.
   */
  due(now = false): boolean {
    if (!now && ++this.#asked < callsPerClockRead) return false
    this.#asked = 0
    return performance.now() >= this.#endsAt
  }

  /** Ends the slice and starts the next one in a later turn. */
  async next(): Promise<void> {
    await this.#scheduler.next()
    this.#asked = 0
    this.#endsAt = performance.now() + this.#sliceMs
  }
}

/**
 * Runs a generator in slices. The generator yields at every point where it may be interrupted; most yields cost only a function
 * call. After a potentially long step it yields `true`, and the clock is read. A promise that it yields is awaited; `yield` then
 * returns its value, or throws.
 *
 * @example
 * import { createSliceScheduler, runAtOnce, runInSlices, Slices } from '@krmkit/meta/slices'
 * function* sum(numbers: readonly number[]): Generator<unknown, number> {
 *   let total = 0
 *   for (const each of numbers) yield (total += each)
 *   return total
 * }
 * await runInSlices(sum([1, 2, 3]), new Slices(createSliceScheduler())) // 6
 * runAtOnce(sum([1, 2, 3])) // 6
 */
export async function runInSlices<T>(work: Generator<unknown, T>, slices: Slices): Promise<T> {
  return continueInSlices(work, work.next(), slices)
}

async function continueInSlices<T>(work: Generator<unknown, T>, from: IteratorResult<unknown, T>, slices: Slices): Promise<T> {
  let step = from
  for (;;) {
    const { done, value } = step
    if (done === true) return value
    if (value instanceof Promise) {
      step = await value.then(
        (result) => work.next(result),
        (error) => work.throw(error),
      )
      continue
    }
    if (slices.due(value === true)) await slices.next()
    step = work.next()
  }
}

/** Like {@link runInSlices}, beginning with a new slice: for callers whose slice is used up. */
export async function runInNewSlices<T>(work: Generator<unknown, T>, scheduler: SliceScheduler): Promise<T> {
  const slices = new Slices(scheduler)
  await slices.next()
  return runInSlices(work, slices)
}

/** Like `runInSlices`, but work that ends within its first slice returns its result synchronously. @see {@link runInSlices} */
export function runSyncOrInSlices<T>(work: Generator<unknown, T>, scheduler: SliceScheduler): T | Promise<T> {
  const slices = new Slices(scheduler)
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    if (step.value instanceof Promise || slices.due(step.value === true)) return continueInSlices(work, step, slices)
  }
}

/** Runs a generator synchronously, for small input. @see {@link runInSlices} */
export function runAtOnce<T>(work: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}
