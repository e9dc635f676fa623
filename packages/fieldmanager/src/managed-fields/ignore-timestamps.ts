import type { Work } from '@krmkit/base/work'
import type { JsonValue } from '@krmkit/meta'
import { equalValues } from '../value/equal.ts'
import { equalOwnership } from './entries.ts'
import { type FrozenObject, withManagedFields } from './type-converter.ts'

/**
 * Turns a write that changes only timestamps of managedFields into a no-op. Call it last, after admission.
 *
 * @returns the live object itself when only timestamps differ, otherwise `next`.
 * @example
 * ```ts
 * import { ignoreManagedFieldsTimestamps } from '@krmkit/fieldmanager/managed-fields'
 *
 * const entry = { manager: 'ci', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } }
 * const metadataAt = (time: string) => ({ name: 'shop', managedFields: [{ ...entry, time }] })
 * const live = { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadataAt('2025-01-01T10:00:00Z') }
 * ignoreManagedFieldsTimestamps(live, { ...live, metadata: metadataAt('2025-01-01T11:00:00Z') }) === live // true
 * ```
 */
export function* ignoreManagedFieldsTimestamps<T extends FrozenObject>(live: T, next: T): Work<T> {
  const before = live.metadata?.managedFields
  const after = next.metadata?.managedFields
  if (before === after || after === undefined || !(yield* equalOwnership(before, after))) return next
  const settled = withManagedFields(next, before as unknown as JsonValue[])
  return (yield* equalValues(settled as unknown as JsonValue, live as unknown as JsonValue)) ? live : next
}
