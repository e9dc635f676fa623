/**
 * Unified differences of lines, as Python's difflib finds them: the longest run of equal lines first, then those before and after it. In long
 * texts frequent lines begin no run.
 */

import type { Work } from '@krmkit/base/work'
import type { Meter } from './meter.ts'

/** Equal lines shown beside a change. */
const contextLines = 3

/** Length of texts from which lines are frequent that are more than 1 % of it. */
const longText = 200

/** Positions of a line that cost one step. */
const positionsPerStep = 16

/** Equal lines of both texts. */
interface Run {
  readonly a: number
  readonly b: number
  readonly size: number
}

/** The difference, a line each, without names of files; empty for equal texts. */
export function* unifiedDiff(a: readonly string[], b: readonly string[], meter: Meter): Work<string> {
  const matcher = new LineMatcher(a, b, meter)
  yield* matcher.index()
  const runs = yield* matcher.runs()
  return hunksOf(runs, a.length, b.length)
    .map((hunk) => printHunk(hunk, a, b))
    .join('')
}

class LineMatcher {
  readonly #a: readonly string[]
  readonly #b: readonly string[]
  readonly #meter: Meter
  /** Positions in the second text of lines that can begin a run. */
  readonly #positions = new Map<string, number[]>()

  constructor(a: readonly string[], b: readonly string[], meter: Meter) {
    this.#a = a
    this.#b = b
    this.#meter = meter
  }

  /** Notes the positions of lines. */
  *index(): Work {
    const b = this.#b
    for (const [i, line] of b.entries()) {
      if (this.#meter.isDue()) yield
      const positions = this.#positions.get(line)
      if (positions === undefined) this.#positions.set(line, [i])
      else positions.push(i)
    }
    if (b.length < longText) return
    const most = Math.floor(b.length / 100) + 1
    for (const [line, positions] of this.#positions) if (positions.length > most) this.#positions.delete(line)
  }

  /** All runs in order; adjacent ones are one. */
  *runs(): Work<Run[]> {
    const found: Run[] = []
    const open = [{ aStart: 0, aEnd: this.#a.length, bStart: 0, bEnd: this.#b.length }]
    for (let range = open.pop(); range !== undefined; range = open.pop()) {
      const run = yield* this.#longest(range)
      if (run.size === 0) continue
      found.push(run)
      const { aStart, aEnd, bStart, bEnd } = range
      const [aNext, bNext] = [run.a + run.size, run.b + run.size]
      if (aStart < run.a && bStart < run.b) open.push({ aStart, aEnd: run.a, bStart, bEnd: run.b })
      if (aNext < aEnd && bNext < bEnd) open.push({ aStart: aNext, aEnd, bStart: bNext, bEnd })
    }
    found.sort((left, right) => left.a - right.a)
    const joined: Run[] = []
    for (const run of found) {
      const last = joined.at(-1)
      if (last !== undefined && last.a + last.size === run.a && last.b + last.size === run.b)
        joined[joined.length - 1] = { ...last, size: last.size + run.size }
      else joined.push(run)
    }
    return joined
  }

  /** The longest run in a range; of several, the first in the first text. */
  *#longest({ aStart, aEnd, bStart, bEnd }: Range): Work<Run> {
    let best: Run = { a: aStart, b: bStart, size: 0 }
    /** Lengths of the runs that end with the line before, by position in the second text. */
    let lengths = new Map<number, number>()
    for (let i = aStart; i < aEnd; i++) {
      const positions = this.#positions.get(this.#a[i] as string) ?? []
      if (this.#meter.isDue(1 + Math.floor(positions.length / positionsPerStep))) yield
      const next = new Map<number, number>()
      for (const j of positions) {
        if (j < bStart) continue
        if (j >= bEnd) break
        const size = (lengths.get(j - 1) ?? 0) + 1
        next.set(j, size)
        if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size }
      }
      lengths = next
    }
    let { a, b, size } = best
    while (a > aStart && b > bStart && this.#a[a - 1] === this.#b[b - 1]) {
      a--
      b--
      size++
    }
    while (a + size < aEnd && b + size < bEnd && this.#a[a + size] === this.#b[b + size]) size++
    return { a, b, size }
  }
}

/** Lines of both texts, up to before their ends. */
interface Range {
  readonly aStart: number
  readonly aEnd: number
  readonly bStart: number
  readonly bEnd: number
}

interface Section extends Range {
  readonly isEqual: boolean
}

/** Changes with the equal lines around them; those with few equal lines between them stand together. */
function hunksOf(runs: readonly Run[], aLength: number, bLength: number): Section[][] {
  const hunks: Section[][] = []
  let hunk: Section[] = []
  let [aStart, bStart] = [0, 0]
  for (const run of [...runs, { a: aLength, b: bLength, size: 0 }]) {
    if (aStart < run.a || bStart < run.b) hunk.push({ isEqual: false, aStart, aEnd: run.a, bStart, bEnd: run.b })
    aStart = run.a + run.size
    bStart = run.b + run.size
    if (run.size === 0) continue
    const isFirst = hunk.length === 0
    const isLast = aStart === aLength && bStart === bLength
    const leading = { isEqual: true, aStart: run.a, aEnd: Math.min(aStart, run.a + contextLines), bStart: run.b, bEnd: 0 }
    const trailing = Math.min(run.size, contextLines)
    const end = { isEqual: true, aStart: aStart - trailing, aEnd: aStart, bStart: bStart - trailing, bEnd: bStart }
    if (isFirst) hunk.push(end)
    else if (isLast || run.size > 2 * contextLines) {
      hunk.push({ ...leading, bEnd: run.b + leading.aEnd - run.a })
      hunks.push(hunk)
      hunk = isLast ? [] : [end]
    } else hunk.push({ isEqual: true, aStart: run.a, aEnd: aStart, bStart: run.b, bEnd: bStart })
  }
  if (hunk.some(({ isEqual }) => !isEqual)) hunks.push(hunk)
  return hunks
}

function printHunk(hunk: readonly Section[], a: readonly string[], b: readonly string[]): string {
  const first = hunk[0] as Section
  const last = hunk.at(-1) as Section
  let text = `@@ -${rangeText(first.aStart, last.aEnd)} +${rangeText(first.bStart, last.bEnd)} @@\n`
  for (const { isEqual, aStart, aEnd, bStart, bEnd } of hunk) {
    for (const line of a.slice(aStart, aEnd)) text += `${isEqual ? ' ' : '-'}${line}\n`
    if (!isEqual) for (const line of b.slice(bStart, bEnd)) text += `+${line}\n`
  }
  return text
}

/** The first line, counted from 1, and the number of lines unless it is 1. */
function rangeText(start: number, end: number): string {
  const length = end - start
  if (length === 1) return String(start + 1)
  return `${length === 0 ? start : start + 1},${length}`
}
