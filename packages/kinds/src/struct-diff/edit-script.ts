/**
 * A short, not always the shortest, list of edits between two lists, as go-cmp finds it: from both ends in turn it looks along diagonals
 * for the next equal pair, within a budget that is linear in the lengths.
 */

import type { Work } from '@krmkit/base/work'
import type { Meter } from './meter.ts'

/** What becomes of the next item of either list: it stays, the one of the first list or of the second stands alone, or one becomes the other. */
export type Edit = 'same' | 'removed' | 'inserted' | 'modified'

/** Numbers of equal and different parts of two items. */
export interface Likeness {
  readonly same: number
  readonly different: number
}

/** The likeness of the items at two positions. */
export type Compare = (x: number, y: number) => Likeness | Work<Likeness>

/** Edits moved between two pauses. */
const editsPerPause = 4096

/** The likeness of items without parts. */
export const equalItems: Likeness = { same: 1, different: 0 }
export const differentItems: Likeness = { same: 0, different: 2 }

/** The way from one end: `sign` is -1 for the one that starts at the ends of both lists. */
interface Path {
  readonly sign: 1 | -1
  x: number
  y: number
  readonly edits: Edit[]
}

interface Point {
  x: number
  y: number
}

/** The edits that turn a list of `nx` items into one of `ny` items. */
export function* editScript(nx: number, ny: number, compare: Compare, meter: Meter): Work<Edit[]> {
  const search = new Search(nx, ny, compare, meter)
  return yield* search.run()
}

class Search {
  readonly #compare: Compare
  readonly #meter: Meter
  readonly #forward: Path
  readonly #reverse: Path
  /** Failed comparisons left. */
  #budget: number

  constructor(nx: number, ny: number, compare: Compare, meter: Meter) {
    this.#compare = compare
    this.#meter = meter
    this.#forward = { sign: 1, x: 0, y: 0, edits: [] }
    this.#reverse = { sign: -1, x: nx, y: ny, edits: [] }
    this.#budget = 4 * (nx + ny)
  }

  *run(): Work<Edit[]> {
    const [forward, reverse] = [this.#forward, this.#reverse]
    const front = { x: forward.x, y: forward.y }
    const back = { x: reverse.x, y: reverse.y }
    for (let isForward = true; front.x < back.x && front.y < back.y && this.#budget > 0; isForward = !isForward) {
      if (isForward) yield* this.#advance(forward, front, reverse)
      else yield* this.#advance(reverse, back, forward)
    }
    yield* this.#connect(forward, reverse)
    const edits = forward.edits
    for (let i = reverse.edits.length - 1; i >= 0; i--) {
      if (i % editsPerPause === 0) yield
      edits.push(reverse.edits[i] as Edit)
    }
    return edits
  }

  /** Looks for an equal pair on the diagonal through `frontier`, goes there, and moves the frontier. */
  *#advance(path: Path, frontier: Point, other: Path): Work {
    const { sign } = path
    let [endsRight, endsLeft] = [false, false]
    for (let i = 0; !(endsRight && endsLeft) && this.#budget > 0; i++) {
      const offset = i % 2 === 0 ? i / 2 : -(i + 1) / 2
      const at = { x: frontier.x + sign * offset, y: frontier.y - sign * offset }
      if (sign * (other.x - at.x) <= 0 || sign * (at.y - path.y) < 0) endsRight = true
      else if (sign * (other.y - at.y) <= 0 || sign * (at.x - path.x) < 0) endsLeft = true
      else if ((yield* this.#likeness(path, at)).different === 0) {
        yield* this.#connect(path, at)
        do this.#push(path, 'same')
        while (path.x !== other.x && path.y !== other.y && (yield* this.#likeness(path, path)).different === 0)
        frontier.x = path.x
        frontier.y = path.y
        break
      } else this.#budget--
    }
    const [aheadX, aheadY] = [sign * (other.x - frontier.x), sign * (other.y - frontier.y)]
    if (aheadX >= aheadY) frontier.x += sign
    else frontier.y += sign
  }

  /** The likeness of the next pair of a path that is at `at`. */
  *#likeness({ sign }: Path, at: Point): Work<Likeness> {
    if (this.#meter.isDue()) yield
    const shift = sign === 1 ? 0 : 1
    const likeness = this.#compare(at.x - shift, at.y - shift)
    return 'same' in likeness ? likeness : yield* likeness
  }

  *#connect(path: Path, to: Point): Work {
    const { sign } = path
    while (path.x !== to.x && path.y !== to.y) {
      const { same, different } = yield* this.#likeness(path, path)
      const [aheadX, aheadY] = [sign * (to.x - path.x), sign * (to.y - path.y)]
      if (different === 0) this.#push(path, 'same')
      else if (same + 1 >= different) this.#push(path, 'modified')
      else if (sign === 1 ? aheadX >= aheadY : aheadX > aheadY) this.#push(path, 'removed')
      else this.#push(path, 'inserted')
    }
    while (path.x !== to.x) this.#push(path, 'removed')
    while (path.y !== to.y) this.#push(path, 'inserted')
  }

  #push(path: Path, edit: Edit): void {
    path.edits.push(edit)
    if (edit !== 'inserted') path.x += path.sign
    if (edit !== 'removed') path.y += path.sign
  }
}
