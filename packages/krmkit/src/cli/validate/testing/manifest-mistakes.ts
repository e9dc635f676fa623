import type { RuleId, Severity } from '../findings.ts'
import { fieldMistakes } from './field-mistakes.ts'
import { ruleMistakes } from './rule-mistakes.ts'

/** Manifests with one sort of mistake each. `¦` stands where a finding is expected and is not part of the text. */

export interface ManifestMistake {
  readonly title: string
  readonly text: string
  /** One for each `¦`, in their order. */
  readonly expected: readonly ExpectedFinding[]
  readonly extension?: '.json' | '.yml'
}

export interface ExpectedFinding {
  readonly rule: RuleId
  readonly path: string
  readonly severity?: Severity
  /** Part of the message. */
  readonly says?: string
}

export const manifestMistakes: readonly ManifestMistake[] = [...fieldMistakes, ...ruleMistakes]
