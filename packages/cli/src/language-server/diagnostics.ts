import { objectText, type Suggestion, type ValidationFinding } from 'krmkit/validate'
import { type CodeAction, CodeActionKind, type Diagnostic, DiagnosticSeverity, type Range } from './connection.ts'
import { toRange } from './positions.ts'

/** Findings as diagnostics, and their suggestions as code actions. */

const start: Range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } }

export function diagnosticOf({ rule, severity, path, message, range, object, suggestion }: ValidationFinding): Diagnostic {
  const subject = object === undefined ? [] : [objectText(object)]
  return {
    source: 'krmkit',
    code: rule,
    severity: severity === 'error' ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning,
    range: range === undefined ? start : toRange(range),
    message: [...subject, path, message].filter((part) => part !== '').join(': '),
    ...(suggestion === undefined ? {} : { data: suggestion }),
  }
}

/** The actions for the diagnostics of a range. */
export function codeActionsFor(uri: string, diagnostics: readonly Diagnostic[]): CodeAction[] {
  return diagnostics.flatMap((diagnostic): CodeAction[] => {
    const suggestion = diagnostic.data as Suggestion | undefined
    if (suggestion === undefined) return []
    const edits = suggestion.edits.map(({ range, text }) => ({ range: toRange(range), newText: text }))
    return [
      {
        title: suggestion.title,
        kind: CodeActionKind.QuickFix,
        diagnostics: [diagnostic],
        isPreferred: true,
        edit: { changes: { [uri]: edits } },
      },
    ]
  })
}

/** Whether two ranges have a position in common. */
export function overlap(a: Range, b: Range): boolean {
  const isBefore = (one: Range['start'], other: Range['start']) =>
    one.line < other.line || (one.line === other.line && one.character < other.character)
  return !isBefore(a.end, b.start) && !isBefore(b.end, a.start)
}
