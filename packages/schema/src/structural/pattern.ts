import { RE2JS } from 're2js'

/** Regular expressions of clients, in Go's syntax and in linear time. */
export interface Pattern {
  readonly source: string
  /** Whether some part of the text matches. */
  test(text: string): boolean
}

/** Why an expression cannot be read, in Go's words. */
export interface PatternProblem {
  readonly problem: string
}

const maxLength = 64 * 1024

/** Compiles once; use the result often. */
export function compilePattern(source: string): Pattern | PatternProblem {
  if (source.length > maxLength) return { problem: 'error parsing regexp: expression too large' }
  try {
    const compiled = RE2JS.compile(source)
    return { source, test: (text) => compiled.matcher(text).find() }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/** A pattern that can be used at once: one that cannot be read matches nothing. */
export function usablePattern(source: string): Pattern {
  const compiled = compilePattern(source)
  return 'problem' in compiled ? { source, test: () => false } : compiled
}
