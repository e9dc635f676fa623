/**
 * Cuts long synchronous work into slices, so that one large request does not delay every other caller.
 *
 *     const slices = new Slices(scheduler)
 *     for (const item of items) {
 *       work(item)
 *       if (slices.due()) await slices.next()
 *     }
 *
 * @see docs/decisions/0011-bounded-work.md
 */

/** Lets waiting jobs continue, one per turn of the event loop, in the order in which they asked. One per server. */
export interface SliceScheduler {
  /** Resolves in a later turn of the event loop, after input that has arrived meanwhile was looked at. */
  next(): Promise<void>
}

/** How long a slice lasts by default, in milliseconds. */
export const defaultSliceMs = 8

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
    nextTurn(run)
  }
  return {
    next: () =>
      new Promise((resolve) => {
        waiting.push(resolve)
        if (!scheduled) schedule()
      }),
  }
}

/** `setImmediate` where there is one; browsers have timers only. */
function nextTurn(run: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(run)
  else setTimeout(run, 0)
}

/** How often `due` is asked before it looks at the clock. */
const looks = 16

/** The slices of one job. */
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
   * Whether the current slice has used its time. Cheap enough for every iteration of a loop: the clock is read on every 16th call.
   *
   * @param now read the clock on this call; for loops whose iterations are long themselves.
   */
  due(now = false): boolean {
    if (!now && ++this.#asked < looks) return false
    this.#asked = 0
    return performance.now() >= this.#endsAt
  }

  /** Ends the slice and begins the next one in a later turn. */
  async next(): Promise<void> {
    await this.#scheduler.next()
    this.#asked = 0
    this.#endsAt = performance.now() + this.#sliceMs
  }
}

/**
 * Runs a generator to its end in slices. The generator yields wherever it may be interrupted, as often as it likes: most yields cost a
 * function call only. After a step that may be long itself it yields `true`, and the clock is read.
 */
export async function runInSlices<T>(work: Generator<unknown, T>, slices: Slices): Promise<T> {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    if (slices.due(value === true)) await slices.next()
  }
}

/** As `runInSlices`, but work that ends within its first slice has its result at once. */
export function sliced<T>(work: Generator<unknown, T>, scheduler: SliceScheduler): T | Promise<T> {
  const slices = new Slices(scheduler)
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    if (slices.due(value === true)) return slices.next().then(() => runInSlices(work, slices))
  }
}

/** Runs the same generator without interruption, for small input. */
export function runAtOnce<T>(work: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}
