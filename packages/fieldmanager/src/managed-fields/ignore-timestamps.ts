import type { JsonValue } from '@krmkit/meta'
import { equalValues } from '../value/order.ts'
import { equalEntries } from './entries.ts'
import type { FrozenObject } from './type-converter.ts'
import { withManagedFields } from './type-converter.ts'

/**
 * Turns a write that changes nothing but managedFields timestamps into a no-op. Call it last, after admission.
 *
 * @returns the live object itself when nothing but timestamps differs, `next` otherwise.
 */
export function ignoreManagedFieldsTimestamps<T extends FrozenObject>(live: T, next: T): T {
  const before = live.metadata?.managedFields
  const after = next.metadata?.managedFields
  if (before === after || after === undefined || !equalEntries(before, after, { ignoreTimes: true })) return next
  const settled = withManagedFields(next, before as unknown as JsonValue[])
  return equalValues(settled as unknown as JsonValue, live as unknown as JsonValue) ? live : next
}
