import type { RuleId, Severity } from '../findings.ts'
import { fieldMistakes } from './field-mistakes.ts'
import { ruleMistakes } from './rule-mistakes.ts'

/** Manifests with one kind of mistake each. `¦` marks the position of an expected finding and is not part of the text. */

export interface ManifestMistake {
  readonly title: string
  readonly text: string
  /** One finding for each `¦`, in order. */
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
