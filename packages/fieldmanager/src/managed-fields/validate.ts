import type { DeepReadonly, ManagedFieldsEntry } from '@krmkit/meta'
import { FieldManagerError } from '../errors.ts'
import { decodeManaged } from './entries.ts'

/**
 * Why entries cannot be used; `undefined` when they can. Admission that leaves unusable entries has its change of them undone,
 * with a warning.
 */
export function managedFieldsProblem(entries: DeepReadonly<ManagedFieldsEntry[]> | null | undefined): string | undefined {
  try {
    decodeManaged(entries)
    return undefined
  } catch (error) {
    if (error instanceof FieldManagerError) return error.message
    throw error
  }
}
