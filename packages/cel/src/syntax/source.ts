import { compareCodePoints } from '@krmkit/meta/go-text'

/** A located error in an expression. */

export interface Problem {
  /** Index into the text. */
  readonly at: number
  readonly message: string
}

/** Maximum number of displayed errors; further errors are only counted. */
const maxShown = 100
/** Maximum length of the displayed errors. */
const maxLength = 32_768

/**
 * Formats errors, each with its line and a mark below:
 *
 * ```
 * ERROR: <input>:1:4: Syntax error: ...
 *  | 1 +
 *  | ...^
 * ```
 */
export function formatProblems(text: string, problems: readonly Problem[]): string {
  const sorted = [...problems].sort((a, b) => a.at - b.at || compareCodePoints(a.message, b.message))
  const shown: string[] = []
  for (let length = 0; shown.length < Math.min(maxShown, sorted.length) && length < maxLength; ) {
    const problem = formatProblem(text, sorted[shown.length] as Problem)
    shown.push(problem)
    length += problem.length
  }
  const more = sorted.length - shown.length
  return more > 0 ? `${shown.join('\n')}\n${more} more errors were truncated` : shown.join('\n')
}

function formatProblem(text: string, { at, message }: Problem): string {
  // An empty text has no line to show.
  if (text === '') return `ERROR: <input>:1:0: ${message}`
  const { line, column, content } = locate(text, at)
  const head = `ERROR: <input>:${line}:${column + 1}: ${message}`
  const chars = Array.from(content.replaceAll('\t', ' '))
  let marks = ''
  for (let i = 0; i < column && i < chars.length; i++) marks += isWide(chars[i]) ? '．' : '.'
  return `${head}\n | ${chars.join('')}\n | ${marks}${isWide(chars[column]) ? '＾' : '^'}`
}

function isWide(char: string | undefined): boolean {
  return char !== undefined && (char.codePointAt(0) as number) >= 0x80
}

/** Converts an offset to a line, counted from 1, and a column, counted from 0 in characters. */
function locate(text: string, at: number): { line: number; column: number; content: string } {
  let line = 1
  let start = 0
  for (let next = text.indexOf('\n'); next >= 0 && next < at; next = text.indexOf('\n', next + 1)) {
    line++
    start = next + 1
  }
  const end = text.indexOf('\n', start)
  const column = Array.from(text.slice(start, at)).length
  return { line, column, content: text.slice(start, end < 0 ? text.length : end) }
}
