import { RE2JS } from 're2js'

/** Regular expressions of clients, in Go's syntax and in linear time. */
export interface Pattern {
  readonly source: string
  /** Instructions of the compiled expression: each character of a text may cost so many steps. */
  readonly size: number
  /** Whether some part of the text matches. */
  test(text: string): boolean
  /** Some part may be repeated without end: each match may have to look at all that follows. */
  readonly isUnbounded: boolean
  /**
   * The parts that match, from left to right; what is empty only where no match ends.
   *
   * @param limit of how many; default all.
   * @param before is told where each search begins.
   */
  matches(text: string, options?: { readonly limit?: number; readonly before?: (index: number) => void }): string[]
}

/** Why an expression cannot be read, in Go's words. */
export interface PatternProblem {
  readonly problem: string
}

const maxLength = 64 * 1024
/** Counted repetitions are written out when an expression is compiled. */
const maxSize = 100_000

const tooLarge: PatternProblem = { problem: 'error parsing regexp: expression too large' }

/** Compiles once; use the result often. */
export function compilePattern(source: string): Pattern | PatternProblem {
  if (source.length > maxLength || writtenOut(source) > maxSize) return tooLarge
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
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/** A pattern that can be used at once: one that cannot be read matches nothing. */
export function usablePattern(source: string): Pattern {
  const compiled = compilePattern(source)
  return 'problem' in compiled ? { source, size: 1, isUnbounded: false, test: () => false, matches: () => [] } : compiled
}

const part = /\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\w+:\]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[()]|[\s\S]/g

function isUnbounded(source: string): boolean {
  for (const [text, , high] of source.matchAll(part)) if (text === '*' || text === '+' || high === '') return true
  return false
}

/** About how many instructions there will be. */
function writtenOut(source: string): number {
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
