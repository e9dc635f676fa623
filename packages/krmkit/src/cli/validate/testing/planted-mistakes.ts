import type { RuleId, Severity } from '../findings.ts'
import { plantedFields } from './planted-fields.ts'
import { plantedRules } from './planted-rules.ts'

/** Manifests with one sort of mistake each. `¦` stands where a finding is expected and is not part of the text. */

export interface PlantedMistake {
  readonly sort: string
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

export const plantedMistakes: readonly PlantedMistake[] = [...plantedFields, ...plantedRules]
