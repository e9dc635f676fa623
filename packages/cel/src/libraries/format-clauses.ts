/** Parses the clauses of format strings: `%s`, `%.2f`. */

import type { Work } from '@krmkit/base/work'

export type Verb = 's' | 'd' | 'f' | 'e' | 'b' | 'o' | 'x' | 'X'

export interface Clause {
  readonly verb: Verb
  /** Number of decimals. */
  readonly precision: number | undefined
}

/** Differs: kube-apiserver has no limit. */
const maxPrecision = 1000

const verbs = new Set(['s', 'd', 'f', 'e', 'b', 'o', 'x', 'X'])

type Applied<P> = { readonly text: string } | { readonly problem: P }

/**
 * Replaces the clauses of a format string, pausing where `apply` pauses.
 *
 * @param apply formats the argument at an index, or reports a problem.
 * @returns the text, or the first problem.
 */
export function* applyClauses<P>(
  format: string,
  size: number,
  apply: (clause: Clause, index: number) => Applied<P> | Work<Applied<P>>,
): Work<{ readonly text: string; readonly count: number } | { readonly problem: P | string }> {
  const out: string[] = []
  let count = 0
  let at = 0
  for (;;) {
    const mark = format.indexOf('%', at)
    out.push(format.slice(at, mark < 0 ? undefined : mark))
    if (mark < 0) return { text: out.join(''), count }
    if (format[mark + 1] === '%') {
      out.push('%')
      at = mark + 2
      continue
    }
    const index = count++
    if (mark + 1 < format.length && index >= size) return { problem: `index ${index} out of range` }
    if (mark + 1 >= format.length) return { problem: index >= size ? `index ${index} out of range` : 'unexpected end of string' }
    const read = readClause(format, mark + 1)
    if ('problem' in read) return { problem: `could not parse formatting clause: ${read.problem}` }
    const result = apply(read.clause, index)
    const applied = 'next' in result ? yield* result : result
    if ('problem' in applied) return applied
    out.push(applied.text)
    at = read.end
  }
}

function readClause(format: string, at: number): { clause: Clause; end: number } | { problem: string } {
  let end = at
  let precision: number | undefined
  if (format[at] === '.') {
    end++
    while (/[0-9]/.test(format[end] ?? '')) end++
    const digits = format.slice(at + 1, end)
    if (end >= format.length) return { problem: 'error while parsing precision: could not find end of precision specifier' }
    if (digits === '') return { problem: unreadable(digits, 'invalid syntax') }
    precision = Number(digits)
    if (precision > Number.MAX_SAFE_INTEGER) return { problem: unreadable(digits, 'value out of range') }
    if (precision > maxPrecision) return { problem: `precision ${precision} exceeds limit ${maxPrecision}` }
  }
  const verb = format[end] as string
  if (!verbs.has(verb)) return { problem: `unrecognized formatting clause "${firstByte(format, end)}"` }
  return { clause: { verb: verb as Verb, precision }, end: end + 1 }
}

function unreadable(digits: string, why: string): string {
  const what = 'error while parsing precision: error while converting precision to integer'
  return `${what}: strconv.Atoi: parsing "${digits}": ${why}`
}

/** Clauses are one byte long. */
function firstByte(text: string, at: number): string {
  const [byte = 0] = new TextEncoder().encode(String.fromCodePoint(text.codePointAt(at) as number))
  return String.fromCharCode(byte)
}

const refusals: Readonly<Record<string, string>> = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  d: 'decimal clause can only be used on integers',
  f: 'fixed-point clause can only be used on doubles',
  e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary',
  o: 'octal clause can only be used on integers',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
}

/** @param type type of the unsuitable argument. */
export function unsuitableArgument(verb: Verb, type: string): string {
  return `error during formatting: ${refusals[verb.toLowerCase()]}, was given ${type}`
}
