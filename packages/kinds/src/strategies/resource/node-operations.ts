/** Operations of nodes that a driver does not need. */
import type { FieldPath } from '../shared/field-path.ts'

const prepare = 'NodePrepareResources'

/** Resources that were not prepared are not unprepared either. */
export function validateSkippedOperations(skipped: readonly string[] | null | undefined, at: FieldPath): void {
  if (!skipped?.includes(prepare) || skipped.includes('NodeUnprepareResources') || skipped.includes('*')) return
  at.invalid(skipped, `${prepare} cannot be skipped unless NodeUnprepareResources is also skipped`)
}
