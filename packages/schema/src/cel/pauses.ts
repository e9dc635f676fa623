import { runAtOnce, type Work } from '@krmkit/meta/work'
import type { Value } from './values.ts'

/**
 * Pauses of an evaluation. A pause unwinds the evaluation, which later starts again at its root; what was finished is not computed
 * again. Comprehensions and calls whose cost depends on their arguments have one entry each, in the order in which they are
 * evaluated, which is the same each time: a result, or how far it has come.
 *
 *     l.map(x, f(x)).all(y, g(y))     paused in g of the third item
 *     entry 0   all, 2 items done     continues with the third
 *     entry 1   map, result           used instead of another evaluation
 *     entry 2   g of the third item   continues
 */

/** What an evaluation has spent, as its meter counts. */
interface Spending {
  cost: number
  work: number
}

/** Thrown to pause an evaluation and caught by `Program`; has no stack. */
export class Pause {
  /** The evaluation cannot continue before. Default: it can at once. */
  readonly until: Promise<void> | undefined
  constructor(until?: Promise<void>) {
    this.until = until
  }
}

const pause = new Pause()

/** A comprehension or call of an evaluation that may pause. */
export class Entry {
  readonly #at: number
  /** The result, once there is one. */
  value: Value | undefined
  /** Cost and work of the evaluation up to here. */
  cost = 0
  work = 0
  /** The rest of a call that runs in steps. */
  running: Work<Value> | undefined
  /** What a comprehension runs over. */
  range: Value | undefined
  /** The keys of a range that is a map. */
  keys: readonly Value[] | undefined
  /** Items of the range that are done. */
  done = 0

  constructor(at: number) {
    this.#at = at
  }

  /** Position after this entry; those from there on belong to its parts. */
  get end(): number {
    return this.#at + 1
  }
}

/** What an evaluation that may pause has finished. */
export class Progress {
  readonly #entries: Entry[] = []
  #next = 0
  #current: Entry | undefined
  readonly #pauseAfter: number
  #pauseAt: number

  /** @param pauseAfter cost and work between two pauses */
  constructor(pauseAfter: number) {
    this.#pauseAfter = pauseAfter
    this.#pauseAt = pauseAfter
  }

  /** Begins at the root of the expression again. */
  restart(): void {
    this.#next = 0
    this.#current = undefined
  }

  /**
   * Evaluates a part of the expression, unless it was finished before a pause.
   *
   * @param evaluate gets the entry, in which it keeps what it must not do again after a pause.
   */
  once<M extends Spending>(meter: M, evaluate: (meter: M, entry: Entry) => Value): Value {
    const at = this.#next++
    const entry = this.#entries[at] ?? new Entry(at)
    this.#entries[at] = entry
    if (entry.value !== undefined) {
      restore(meter, entry)
      return entry.value
    }
    const outer = this.#current
    this.#current = entry
    if (entry.range !== undefined || entry.running !== undefined) restore(meter, entry)
    const value = entry.running === undefined ? evaluate(meter, entry) : this.run(meter, entry.running)
    this.#current = outer
    entry.value = value
    this.advance(meter, entry)
    return value
  }

  /** Notes that a comprehension has begun. @throws Pause */
  begin(meter: Spending, entry: Entry, range: Value): void {
    entry.range = range
    this.advance(meter, entry)
  }

  /** Forgets the parts of an entry, which has come further, and pauses if it is time. @throws Pause */
  advance(meter: Spending, entry: Entry): void {
    this.#entries.length = entry.end
    this.#next = entry.end
    save(meter, entry)
    if (meter.cost + meter.work < this.#pauseAt) return
    this.#pauseAt = meter.cost + meter.work + this.#pauseAfter
    throw pause
  }

  /** Runs the current call to its next pause. @throws Pause */
  run(meter: Spending, steps: Work<Value>): Value {
    const { done, value } = steps.next()
    if (done === true) return value
    const entry = this.#current as Entry
    save(meter, entry)
    entry.running = steps
    throw pause
  }
}

function save(meter: Spending, entry: Entry): void {
  entry.cost = meter.cost
  entry.work = meter.work
}

function restore(meter: Spending, entry: Entry): void {
  meter.cost = entry.cost
  meter.work = entry.work
}

/**
 * The value of a call that has pauses, about one for each millisecond, at which the evaluation pauses. Must be the last
 * thing that the call does.
 */
export function runCall(meter: Spending & { readonly progress: Progress | undefined }, steps: Work<Value>): Value {
  return meter.progress === undefined ? runAtOnce(steps) : meter.progress.run(meter, steps)
}
