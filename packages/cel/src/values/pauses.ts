import { runAtOnce, type Work } from '@krmkit/base/work'
import type { Value } from './values.ts'

/**
 * Pauses of an evaluation. A pause unwinds the stack; the evaluation later restarts at the root of the expression and skips
 * finished parts. Each comprehension, and each call whose cost depends on its arguments, has one entry, which holds its
 * result or its progress. Entries are in evaluation order, which is the same after every restart.
 *
 *     l.map(x, f(x)).all(y, g(y))     paused in g of the third item
 *     entry 0   all, 2 items done     continues with the third
 *     entry 1   map, result           used instead of another evaluation
 *     entry 2   g of the third item   continues
 */

/** The spent cost and work of an evaluation, as counted by its meter. */
interface Spending {
  cost: number
  work: number
}

/** Thrown to pause an evaluation and caught by `Program`; has no stack. */
export class Pause {
  /** The evaluation must not continue before this resolves. Default: it may continue at once. */
  readonly until: Promise<void> | undefined
  constructor(until?: Promise<void>) {
    this.until = until
  }
}

const pause = new Pause()

/** The progress of a comprehension or call in an evaluation that may pause. */
export class Entry {
  readonly #at: number
  /** The result, once the part is finished. */
  value: Value | undefined
  /** Cost and work of the evaluation up to this point. */
  cost = 0
  work = 0
  /** The unfinished work of a pausable call. */
  running: Work<Value> | undefined
  /** The range of a comprehension. */
  range: Value | undefined
  /** The keys of a range that is a map. */
  keys: readonly Value[] | undefined
  /** Number of processed items of the range. */
  done = 0

  constructor(at: number) {
    this.#at = at
  }

  /** Index after this entry; the entries from this index on belong to its subexpressions. */
  get end(): number {
    return this.#at + 1
  }
}

/** The finished parts of an evaluation that may pause. */
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

  /** Restarts at the root of the expression. */
  restart(): void {
    this.#next = 0
    this.#current = undefined
  }

  /**
   * Evaluates a part of the expression, unless it was finished before a pause.
   *
   * @param evaluate receives the entry, in which it saves its progress for a restart.
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

  /** Saves the range of a comprehension that starts. @throws Pause */
  begin(meter: Spending, entry: Entry, range: Value): void {
    entry.range = range
    this.advance(meter, entry)
  }

  /** Saves the progress of an entry, drops the entries of its subexpressions, and pauses if a pause is due. @throws Pause */
  advance(meter: Spending, entry: Entry): void {
    this.#entries.length = entry.end
    this.#next = entry.end
    save(meter, entry)
    if (meter.cost + meter.work < this.#pauseAt) return
    this.#pauseAt = meter.cost + meter.work + this.#pauseAfter
    throw pause
  }

  /** Runs the work of the current call up to its next yield, then pauses. @throws Pause */
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
 * Returns the result of a pausable call, which yields about once per millisecond; the evaluation pauses at each yield. Must
 * be the last action of the call.
 */
export function runCall(meter: Spending & { readonly progress: Progress | undefined }, steps: Work<Value>): Value {
  return meter.progress === undefined ? runAtOnce(steps) : meter.progress.run(meter, steps)
}
