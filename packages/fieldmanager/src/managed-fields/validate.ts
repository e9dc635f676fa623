import type { DeepReadonly, ManagedFieldsEntry } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import { decodeManaged } from './entries.ts'

/**
 * Returns why managedFields cannot be decoded; `undefined` when they are valid. When admission leaves invalid entries, its
 * changes of managedFields are undone with a warning.
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
