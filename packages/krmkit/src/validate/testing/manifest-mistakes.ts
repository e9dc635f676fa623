import { fieldMistakes } from './field-mistakes.ts'
import type { ManifestMistake } from './manifest-mistake.ts'
import { ruleMistakes } from './rule-mistakes.ts'

/** Manifests with one kind of mistake each. `¦` marks the position of an expected finding and is not part of the text. */

export const manifestMistakes: readonly ManifestMistake[] = [...fieldMistakes, ...ruleMistakes]
