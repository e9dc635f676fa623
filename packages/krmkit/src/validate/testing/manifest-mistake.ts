import type { Severity, ValidationRule } from '../findings.ts'

export interface ManifestMistake {
  readonly title: string
  readonly text: string
  /** The expected findings, one for each `¦`, in order. */
  readonly expected: readonly ExpectedFinding[]
  readonly extension?: '.json' | '.yml'
}

export interface ExpectedFinding {
  readonly rule: ValidationRule
  readonly path: string
  readonly severity?: Severity
  /** Expected part of the message. */
  readonly says?: string
}
