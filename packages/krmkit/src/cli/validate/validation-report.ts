import { objectText } from '../offline/objects.ts'
import type { Paint } from '../offline/paint.ts'
import type { Finding, Summary } from './findings.ts'
import { sarifReport } from './sarif-report.ts'

/** The output formats of `krmkit validate`. */

export type ReportFormat = 'text' | 'json' | 'sarif'

export interface ValidationReport {
  /** Adds the findings of one file, in order. */
  add(findings: readonly Finding[]): void
  end(summary: Summary): void
}

export interface ValidationReportOptions {
  readonly out: (text: string) => void
  readonly paint: Paint
  /** Omits the summary. */
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

/** Prints one line per finding, in the format of compilers. */
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
  return `${count(objects, 'object')} in ${count(files, 'file')}${skipped}: ${found.join(', ') || paint.green('valid')}`
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** The output of `--output json`. */
export interface JsonReport {
  /** Version of this format; incremented by incompatible changes. */
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
