import type { TextRange } from '@krmkit/schema/manifest'
import type { ManifestObjectName } from '@krmkit/versioning'
import { objectText, printable, printableLines } from 'krmkit/validate'
import type { Paint } from './paint.ts'

/** A finding of any command, as reports print it. */
export interface ReportedFinding {
  readonly rule: string
  readonly severity: 'error' | 'warning' | 'note'
  /** Path from the root of the document or object; empty for the whole of it. */
  readonly path: string
  /** The message without the path. */
  readonly message: string
  /** A path, `-` for standard input, or the URL of a server. */
  readonly file: string
  /** Number of the document in the file, from 1. */
  readonly document?: number
  readonly range?: TextRange
  readonly object?: ManifestObjectName
}

/** A line in the format of compilers. */
export function textLine({ file, range, severity, path, message, object, rule }: ReportedFinding, paint: Paint): string {
  const where = range === undefined ? file : `${file}:${range.line}:${range.column}`
  const colors = { error: paint.red, warning: paint.yellow, note: paint.cyan }
  const subject = object === undefined ? '' : ` ${objectText(object)}:`
  return `${paint.bold(where)}: ${colors[severity](severity)}:${subject} ${path === '' ? '' : `${paint.cyan(printable(path))}: `}${printableLines(message)} ${paint.dim(`[${rule}]`)}`
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** Numbers of findings by severity. */
export interface SeverityCounts {
  readonly errors: number
  readonly warnings: number
  readonly notes: number
}

export function countBySeverity(findings: readonly ReportedFinding[]): SeverityCounts {
  const of = (wanted: ReportedFinding['severity']) => findings.filter(({ severity }) => severity === wanted).length
  return { errors: of('error'), warnings: of('warning'), notes: of('note') }
}

/** `2 errors, 1 note`, or `none` in the words given. */
export function countsText({ errors, warnings, notes }: SeverityCounts, paint: Paint, none: string): string {
  const found = [
    errors === 0 ? '' : paint.red(count(errors, 'error')),
    warnings === 0 ? '' : paint.yellow(count(warnings, 'warning')),
    notes === 0 ? '' : paint.cyan(count(notes, 'note')),
  ].filter((text) => text !== '')
  return found.join(', ') || paint.green(none)
}
