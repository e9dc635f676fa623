import { objectText, type ValidationFinding, type ValidationSummary, validationRules } from 'krmkit/validate'
import type { Paint } from '../offline/paint.ts'
import { count, textLine } from '../offline/reported-finding.ts'
import { sarifReport } from '../offline/sarif-report.ts'

/** The output formats of `krmkit validate`. */

export type ReportFormat = 'text' | 'json' | 'sarif' | 'github'

export interface ValidationReport {
  /** Adds the findings of one file, in order. */
  add(findings: readonly ValidationFinding[]): void
  end(summary: ValidationSummary): void
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
  if (format === 'github') return githubReport(options)
  const all: ValidationFinding[] = []
  return {
    add: (findings) => void all.push(...findings),
    end: (summary) =>
      options.out(
        `${JSON.stringify(format === 'json' ? jsonReport(all, summary) : sarifReport(all, { version: options.version, rules: validationRules }), null, 2)}\n`,
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

/** Prints workflow commands, which GitHub Actions shows beside the lines of a change. */
function githubReport({ out, paint, quiet }: ValidationReportOptions): ValidationReport {
  return {
    add(findings) {
      for (const finding of findings) out(`${workflowCommand(finding)}\n`)
    },
    end(summary) {
      if (!quiet) out(`${summaryText(summary, paint)}\n`)
    },
  }
}

function workflowCommand({ severity, file, range, rule, object, path, message }: ValidationFinding): string {
  const place = {
    file,
    ...(range === undefined ? {} : { line: range.line, endLine: range.endLine, col: range.column, endColumn: range.endColumn }),
    title: `krmkit ${rule}`,
  }
  const properties = Object.entries(place).map(([name, value]) => `${name}=${escaped(String(value), /[%\r\n:,]/g)}`)
  const text = [object === undefined ? '' : objectText(object), path, message].filter((part) => part !== '').join(': ')
  return `::${severity} ${properties.join(',')}::${escaped(text, /[%\r\n]/g)}`
}

function escaped(text: string, characters: RegExp): string {
  return text.replace(characters, (character) => encodeURIComponent(character))
}

function summaryText({ files, objects, errors, warnings, unchecked, known }: ValidationSummary, paint: Paint): string {
  const found = [
    errors === 0 ? '' : paint.red(count(errors, 'error')),
    warnings === 0 ? '' : paint.yellow(count(warnings, 'warning')),
  ].filter((text) => text !== '')
  const skipped = unchecked === 0 ? '' : `, ${unchecked} unchecked`
  const before = known === 0 ? '' : `, ${known} known`
  return `${count(objects, 'object')} in ${count(files, 'file')}${skipped}${before}: ${found.join(', ') || paint.green('valid')}`
}

/** The output of `--output json`. */
export interface JsonReport {
  /** Version of this format; incremented by incompatible changes. */
  readonly formatVersion: 1
  readonly summary: ValidationSummary
  readonly findings: readonly object[]
}

function jsonReport(findings: readonly ValidationFinding[], summary: ValidationSummary): JsonReport {
  return {
    formatVersion: 1,
    summary,
    findings: findings.map(({ file, document, range, severity, rule, path, message, object, suggestion }) => ({
      file,
      ...(document === undefined ? {} : { document }),
      ...range,
      severity,
      rule,
      path,
      message,
      ...(object === undefined ? {} : { object }),
      ...(suggestion === undefined ? {} : { suggestion }),
    })),
  }
}
