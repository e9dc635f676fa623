import { RE2JS } from 're2js'

/** Regular expressions from clients, in Go's syntax, with linear matching time. */
export interface Pattern {
  readonly source: string
  /** Number of compiled instructions: an upper bound of the steps per character. */
  readonly size: number
  /** Whether a part of the text matches. */
  test(text: string): boolean
  /** Whether the expression has an unbounded repetition: each match may scan the rest of the text. */
  readonly isUnbounded: boolean
  /**
   * Non-overlapping matches from left to right. Empty matches adjacent to a previous match are skipped.
   *
   * @param limit maximum number of matches; default all.
   * @param onSearch called with the start index of each search.
   */
  matches(text: string, options?: { readonly limit?: number; readonly before?: (index: number) => void }): string[]
}

/** Compile error with Go's message. */
export interface PatternProblem {
  readonly problem: string
}

const maxLength = 64 * 1024
/** Limit of the compiled size: counted repetitions are expanded. */
const maxSize = 100_000

const tooLarge = (source: string): PatternProblem => ({ problem: `error parsing regexp: expression too large: \`${source}\`` })

/**
 * Compiles a regular expression in Go's syntax, which runs in linear time.
 *
 * @example
 * import { compilePattern } from '@krmkit/schema/structural'
 * const pattern = compilePattern('^[a-z]+$')
 * if ('problem' in pattern) throw new Error(pattern.problem)
 * pattern.test('abc') // true
 */
export function compilePattern(source: string): Pattern | PatternProblem {
  if (source.length > maxLength || estimateProgramSize(source) > maxSize) return tooLarge(source)
  try {
    const compiled = RE2JS.compile(source)
    return {
      source,
      size: compiled.programSize(),
      test: (text) => compiled.matcher(text).find(),
      isUnbounded: isUnbounded(source),
      matches: (text, { limit = Number.POSITIVE_INFINITY, before } = {}) => {
        const found: string[] = []
        const matcher = compiled.matcher(text)
        for (let end = -1; found.length < limit; ) {
          before?.(Math.max(0, end))
          if (!matcher.find()) break
          const isBeside = matcher.start() === end && matcher.end() === end
          end = matcher.end()
          if (!isBeside) found.push(matcher.group() ?? '')
        }
        return found
      },
    }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    // Go shows the wrong part of the expression, even an empty one.
    return { problem: problem.endsWith('`') ? problem : `${problem}: \`\`` }
  }
}

/** Compiles an expression; an invalid one matches nothing. */
export function compileLenient(source: string): Pattern {
  const compiled = compilePattern(source)
  return 'problem' in compiled ? { source, size: 1, isUnbounded: false, test: () => false, matches: () => [] } : compiled
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
