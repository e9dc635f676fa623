import { runAtOnce } from '@krmkit/base/work'
import { RE2JS } from 're2js'
import { MatchFinder } from './pattern-find.ts'
import { isSearchable, searchProgram } from './pattern-search.ts'

/** Regular expressions from clients, in Go's syntax, with linear matching time. */
export interface Pattern {
  readonly source: string
  /** Number of compiled instructions: an upper bound of the steps per character. */
  readonly size: number
  /** Whether a part of the text matches. */
  test(text: string): boolean
  /** As `test`, pausable in long searches. */
  search(text: string): Generator<true, boolean>
  /** Whether the expression has an unbounded repetition: each match may scan the rest of the text. */
  readonly isUnbounded: boolean
  /**
   * Non-overlapping matches from left to right. Empty matches adjacent to a previous match are skipped.
   *
   * @param limit maximum number of matches; default all.
   * @param before called with the start index of each search.
   */
  matches(text: string, options?: MatchOptions): Generator<true, string[]>
}

export interface MatchOptions {
  readonly limit?: number
  readonly before?: (index: number) => void
}

/** Compile error with Go's message. */
export interface PatternProblem {
  readonly problem: string
}

/** Maximum length of an expression. Compiling cannot pause and takes about 20 ms at most. */
const maxLength = 16 * 1024
/** Limit of the compiled size: counted repetitions are expanded. */
const maxSize = 20_000

/** Instructions times characters up to which a search runs in one step: about 0.1 ms. */
export const maxSearchAtOnce = 5000

/** Number of matches in one step: about a millisecond. */
const matchesPerStep = 1000

const tooLarge = (source: string): PatternProblem => ({ problem: `error parsing regexp: expression too large: \`${source}\`` })

/**
 * Compiles a regular expression in Go's syntax, which runs in linear time.
 *
 * @example
 * import { compilePattern } from '@krmkit/cel/pattern'
 * const pattern = compilePattern('^[a-z]+$')
 * if ('problem' in pattern) throw new Error(pattern.problem)
 * pattern.test('abc') // true
 */
export function compilePattern(source: string): Pattern | PatternProblem {
  if (source.length > maxLength || estimateProgramSize(source) > maxSize) return tooLarge(source)
  try {
    return new CompiledPattern(source)
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    // Go's message contains the invalid part of the expression, even if it is empty.
    return { problem: problem.endsWith('`') ? problem : `${problem}: \`\`` }
  }
}

class CompiledPattern implements Pattern {
  readonly source: string
  readonly size: number
  readonly isUnbounded: boolean
  readonly #compiled: RE2JS
  readonly #isSearchable: boolean

  constructor(source: string) {
    this.source = source
    this.#compiled = RE2JS.compile(source)
    this.size = this.#compiled.programSize()
    this.isUnbounded = isUnbounded(source)
    this.#isSearchable = isSearchable(this.#compiled.re2().prog)
  }

  test(text: string): boolean {
    return this.#isLong(text) ? runAtOnce(this.search(text)) : this.#compiled.matcher(text).find()
  }

  *search(text: string): Generator<true, boolean> {
    // With captures: without, the library would cache up to 8 MB of states for each pattern.
    if (!this.#isLong(text)) return this.#compiled.matcher(text).find()
    const found = yield* searchProgram(this.#compiled.re2().prog, text)
    yield true
    return found
  }

  #isLong(text: string): boolean {
    return this.#isSearchable && this.size * text.length > maxSearchAtOnce
  }

  *matches(text: string, { limit = Number.POSITIVE_INFINITY, before }: MatchOptions = {}): Generator<true, string[]> {
    const found: string[] = []
    const matcher = this.#compiled.matcher(text)
    const finder = this.#isLong(text) ? new MatchFinder(this.#compiled.re2().prog, text) : undefined
    let from = 0
    for (let last = -1; found.length < limit && from <= text.length; ) {
      before?.(from)
      if (finder === undefined ? !matcher.find() : !(yield* finder.find(from))) break
      const [start, end] = finder === undefined ? [matcher.start(), matcher.end()] : [finder.start, finder.end]
      // An empty match adjacent to the last match is skipped.
      if (start !== end || start !== last) found.push(text.slice(start, end))
      last = end
      from = end > start ? end : end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1)
      if (found.length % matchesPerStep === 0) yield true
    }
    return found
  }
}

/**
 * Compiles an expression; an invalid one matches nothing.
 *
 * @example
 * import { compileLenient } from '@krmkit/cel/pattern'
 * compileLenient('^v[0-9]+$').test('v2') // true
 * compileLenient('(').test('(') // false
 */
export function compileLenient(source: string): Pattern {
  const compiled = compilePattern(source)
  return 'problem' in compiled
    ? { source, size: 1, isUnbounded: false, test: () => false, search: neverFound, matches: neverMatches }
    : compiled
}

function* neverFound(): Generator<true, boolean> {
  yield true
  return false
}

function* neverMatches(): Generator<true, string[]> {
  yield true
  return []
}

const part = /\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\w+:\]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[()]|[\s\S]/g

function isUnbounded(source: string): boolean {
  for (const [text, , high] of source.matchAll(part)) if (text === '*' || text === '+' || high === '') return true
  return false
}

/** Estimated number of compiled instructions. */
function estimateProgramSize(source: string): number {
  const outer: number[] = []
  let total = 0
  let last = 0
  for (const [text, low, high] of source.matchAll(part)) {
    if (low !== undefined) {
      const times = Math.max(Number(low), Number(high === undefined || high === '' ? low : high), 1)
      total += last * (times - 1)
      last *= times
    } else if (text === '(') {
      outer.push(total)
      total = 0
      last = 0
    } else if (text === ')') {
      last = total + 2
      total = (outer.pop() ?? 0) + last
    } else {
      last = text.startsWith('\\Q') ? text.length : 1
      total += last
    }
  }
  return total + outer.reduce((sum, each) => sum + each, 0)
}
