/**
 * Long synchronous work in slices, so that one large request does not delay others: {@link Work} can pause, a {@link Pace}
 * decides when it pauses, and {@link Turns} resume it.
 *
 *     const pace = new Pace(turns)
 *     for (const item of items) {
 *       work(item)
 *       if (pace.due()) await pace.next()
 *     }
 *
 * @see docs/internals/decisions/0011-bounded-work.md
 */

import { isLargeValue } from './large-maps.ts'

export {
  isEmptyObject,
  isLargeValue,
  largeMapSize,
  memberCountOfLargeMap,
  memberNames,
  rememberKey,
  rememberMemberNames,
} from './large-maps.ts'

/**
 * Work that can pause: a generator that yields wherever other work may run. `runAtOnce` runs it without pausing, a {@link
 * Pace} runs it in slices. After a potentially long part it yields `true`; a yielded promise is awaited.
 */
export type Work<T = void> = Generator<unknown, T>

/** Resumes waiting jobs, one per turn of the event loop, first come first served. One per server. */
export interface Turns {
  /** Resolves in a later turn of the event loop, after pending I/O was handled. */
  next(): Promise<void>
}

/** Default duration of a slice, in milliseconds. */
export const defaultSliceMs = 8

/**
 * Creates the turns that the long jobs of one server share.
 *
 * @example
 * import { createTurns, Pace } from '@krmkit/base/work'
 * const pace = new Pace(createTurns())
 * const words: string[] = []
 * for (const line of ['a', 'b']) {
 *   words.push(line.toUpperCase())
 *   if (pace.due()) await pace.next()
 * }
 */
export function createTurns(): Turns {
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
 * import { onNextTurn } from '@krmkit/base/work'
 * onNextTurn(() => console.log('after pending I/O'))
 */
export function onNextTurn(run: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(run)
  else setTimeout(run, 0)
}

/** Number of `due` calls per clock read. */
const callsPerClockRead = 16

/** The time slices of one job. {@link paceOf} creates the pace of work on one object. */
export class Pace {
  /** Whether the work runs in slices. False for work on a small object. */
  readonly isSliced: boolean = true
  readonly #turns: Turns
  readonly #sliceMs: number
  #endsAt: number
  #callsSinceRead = 0

  constructor(turns: Turns, { sliceMs = defaultSliceMs }: { readonly sliceMs?: number } = {}) {
    this.#turns = turns
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
    if (!now && ++this.#callsSinceRead < callsPerClockRead) return false
    this.#callsSinceRead = 0
    return performance.now() >= this.#endsAt
  }

  /** Ends the slice and starts the next one in a later turn. */
  async next(): Promise<void> {
    await this.#turns.next()
    this.#callsSinceRead = 0
    this.#endsAt = performance.now() + this.#sliceMs
  }

  /** Runs work in slices, starting in a new slice. Work on a small object starts at once. @see {@link runPaced} */
  run<T>(work: Work<T>): T | Promise<T> {
    return this.#runInNextSlice(work)
  }

  async #runInNextSlice<T>(work: Work<T>): Promise<T> {
    await this.next()
    return runPaced(work, this)
  }

  /** Returns the pace of later work on the changed object: a small object may have become large. */
  for(_object: unknown): Pace {
    return this
  }
}

const atOnce = Promise.resolve()

/** The pace of work on a small object, which pauses only if it takes longer than a slice. */
class UnslicedPace extends Pace {
  override readonly isSliced = false
  readonly #turns: Turns

  constructor(turns: Turns) {
    super(turns)
    this.#turns = turns
  }

  override due(): boolean {
    return false
  }

  override next(): Promise<void> {
    return atOnce
  }

  override run<T>(work: Work<T>): T | Promise<T> {
    return startWork(work, this.#turns)
  }

  override for(object: unknown): Pace {
    return paceOf(this.#turns, object)
  }
}

/**
 * The pace of all work on one object: slices for a large object, and none for a small one. Measures the object only once,
 * because measuring a large object takes time.
 *
 * @example
 * import { createTurns, paceOf } from '@krmkit/base/work'
 * const turns = createTurns()
 * paceOf(turns, { data: { color: 'red' } }).isSliced // false
 * paceOf(turns, Array.from({ length: 5000 }, (_, i) => i)).isSliced // true
 */
export function paceOf(turns: Turns, object: unknown): Pace {
  if (isLargeValue(object)) return new Pace(turns)
  let unsliced = unslicedPaces.get(turns)
  if (unsliced === undefined) {
    unsliced = new UnslicedPace(turns)
    unslicedPaces.set(turns, unsliced)
  }
  return unsliced
}

/** All small objects of a server share one pace, which measures no time. */
const unslicedPaces = new WeakMap<Turns, Pace>()

/**
 * Calls `next` at once for a plain value, or when a promise resolves. Only for hot paths on which promises are rare and a
 * microtask would be noticeable; other code uses `await`.
 *
 * @example
 * import { whenDone } from '@krmkit/base/work'
 * whenDone(1, (value) => value + 1) // 2
 * await whenDone(Promise.resolve(1), (value) => value + 1) // 2
 */
export function whenDone<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/**
 * Runs a generator in slices. The generator yields at every point where it may pause; most yields cost only a function call.
 * After a potentially long step it yields `true`, and the clock is read. A promise that it yields is awaited; `yield` then
 * returns its value, or throws.
 *
 * @example
 * import { createTurns, Pace, runAtOnce, runPaced, type Work } from '@krmkit/base/work'
 * function* sum(numbers: readonly number[]): Work<number> {
 *   let total = 0
 *   for (const each of numbers) yield (total += each)
 *   return total
 * }
 * await runPaced(sum([1, 2, 3]), new Pace(createTurns())) // 6
 * runAtOnce(sum([1, 2, 3])) // 6
 */
export async function runPaced<T>(work: Work<T>, pace: Pace): Promise<T> {
  return continueInSlices(work, work.next(), pace)
}

async function continueInSlices<T>(work: Work<T>, from: IteratorResult<unknown, T>, pace: Pace): Promise<T> {
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
    if (pace.due(value === true)) await pace.next()
    step = work.next()
  }
}

/** Like {@link runPaced}, but starts in a new slice, for callers whose slice is used up. */
export async function runInLaterTurns<T>(work: Work<T>, turns: Turns): Promise<T> {
  return new Pace(turns).run(work)
}

/** Like `runPaced`, but work that ends within its first slice returns its result synchronously. @see {@link runPaced} */
export function startWork<T>(work: Work<T>, turns: Turns): T | Promise<T> {
  const pace = new Pace(turns)
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    if (step.value instanceof Promise || pace.due(step.value === true)) return continueInSlices(work, step, pace)
  }
}

/** Runs a generator synchronously, for small input. @see {@link runPaced} */
export function runAtOnce<T>(work: Work<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

/** Items that {@link sort} sorts between two pauses. */
const itemsPerRun = 2048

/** Items that {@link sort} merges between two yields. */
const itemsPerStep = 128

/**
 * Sorts a list with pauses: a merge sort of sorted runs.
 *
 * @param compare as for `Array.prototype.sort`. Default: UTF-16 order, for lists of strings.
 * @returns the sorted list; `items` itself may be changed.
 * @example
 * import { runAtOnce, sort } from '@krmkit/base/work'
 * runAtOnce(sort(['b', 'a'])) // [ 'a', 'b' ]
 */
export function* sort<T>(items: T[], compare?: (a: T, b: T) => number): Work<T[]> {
  if (items.length <= itemsPerRun) return items.sort(compare)
  const isOrdered = compare === undefined ? (a: T, b: T) => a <= b : (a: T, b: T) => compare(a, b) <= 0
  let from: T[] = []
  for (let start = 0; start < items.length; start += itemsPerRun) {
    for (const item of items.slice(start, start + itemsPerRun).sort(compare)) from.push(item)
    yield true
  }
  for (let width = itemsPerRun; width < from.length; width *= 2) {
    const to: T[] = []
    for (let start = 0; start < from.length; start += 2 * width) {
      const middle = Math.min(start + width, from.length)
      const end = Math.min(middle + width, from.length)
      for (let left = start, right = middle; left < middle || right < end; ) {
        const takesLeft = right >= end || (left < middle && isOrdered(from[left] as T, from[right] as T))
        to.push(from[takesLeft ? left++ : right++] as T)
        if (to.length % itemsPerStep === 0) yield
      }
    }
    from = to
  }
  return from
}
