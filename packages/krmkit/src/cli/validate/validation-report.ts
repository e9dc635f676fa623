import type { Paint } from '../offline/paint.ts'
import { count, textLine } from '../offline/reported-finding.ts'
import { sarifReport } from '../offline/sarif-report.ts'
import { type Finding, rules, type Summary } from './findings.ts'

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
        `${JSON.stringify(format === 'json' ? jsonReport(all, summary) : sarifReport(all, { version: options.version, rules }), null, 2)}\n`,
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

function summaryText({ files, objects, errors, warnings, unchecked }: Summary, paint: Paint): string {
  const found = [
    errors === 0 ? '' : paint.red(count(errors, 'error')),
    warnings === 0 ? '' : paint.yellow(count(warnings, 'warning')),
  ].filter((text) => text !== '')
  const skipped = unchecked === 0 ? '' : `, ${unchecked} unchecked`
  return `${count(objects, 'object')} in ${count(files, 'file')}${skipped}: ${found.join(', ') || paint.green('valid')}`
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
