import { objectText } from '../offline/objects.ts'
import type { Paint } from '../offline/paint.ts'
import type { Finding, Summary } from './findings.ts'
import { sarifReport } from './sarif-report.ts'

/** Forms in which findings are told. */

export type ReportFormat = 'text' | 'json' | 'sarif'

export interface ValidationReport {
  /** Findings of one file, in order. */
  add(findings: readonly Finding[]): void
  end(summary: Summary): void
}

export interface ValidationReportOptions {
  readonly out: (text: string) => void
  readonly paint: Paint
  /** Leaves the summary out. */
  readonly quiet: boolean
  readonly version: string
}

export function createValidationReport(format: ReportFormat, options: ValidationReportOptions): ValidationReport {
  if (format === 'text') return textReport(options)
  const all: Finding[] = []
  return {
    add: (findings) => void all.push(...findings),
    end: (summary) =>
      options.out(
        `${JSON.stringify(format === 'json' ? jsonReport(all, summary) : sarifReport(all, options.version), null, 2)}\n`,
      ),
  }
}

/** One line for each finding, as compilers print them; at once. */
function textReport({ out, paint, quiet }: ValidationReportOptions): ValidationReport {
  return {
    add(findings) {
      for (const finding of findings) out(`${textLine(finding, paint)}\n`)
    },
    end(summary) {
      if (!quiet) out(`${summaryText(summary, paint)}\n`)
    },
  }
}

function textLine({ file, range, severity, path, message, object, rule }: Finding, paint: Paint): string {
  const where = range === undefined ? file : `${file}:${range.line}:${range.column}`
  const what = severity === 'error' ? paint.red('error') : paint.yellow('warning')
  const subject = object === undefined ? '' : ` ${objectText(object)}:`
  return `${paint.bold(where)}: ${what}:${subject} ${path === '' ? '' : `${paint.cyan(path)}: `}${message} ${paint.dim(`[${rule}]`)}`
}

function summaryText({ files, objects, errors, warnings, unchecked }: Summary, paint: Paint): string {
  const found = [
    errors === 0 ? '' : paint.red(count(errors, 'error')),
    warnings === 0 ? '' : paint.yellow(count(warnings, 'warning')),
  ].filter((text) => text !== '')
  const skipped = unchecked === 0 ? '' : `, ${unchecked} unchecked`
  return `${count(objects, 'object')} in ${count(files, 'file')}${skipped}: ${found.join(', ') || paint.green('fine')}`
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** What `--output json` prints. */
export interface JsonReport {
  /** Of this form; raised when something in it changes its meaning. */
  readonly formatVersion: 1
  readonly summary: Summary
  readonly findings: readonly object[]
}

function jsonReport(findings: readonly Finding[], summary: Summary): JsonReport {
  return {
    formatVersion: 1,
    summary,
    findings: findings.map(({ file, document, range, severity, rule, path, message, object }) => ({
      file,
      ...(document === undefined ? {} : { document }),
      ...range,
      severity,
      rule,
      path,
      message,
      ...(object === undefined ? {} : { object }),
    })),
  }
}
