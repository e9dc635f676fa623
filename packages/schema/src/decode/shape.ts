import { compareCodePoints } from '@krmkit/meta'
import { NumberLiteral, setMember } from '../json/syntax.ts'

/** Small questions about parsed values. */

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberLiteral)
}

/** Whether `next` may follow `previous` in an object whose keys are sorted by UTF-8 bytes; in doubt it says no. */
export function inOrder(previous: string, next: string): boolean {
  return previous < next && !wide.test(next)
}

/** Characters whose order differs between UTF-16 and UTF-8. */
const wide = /[\ud800-\uffff]/

/** A copy with the keys sorted by UTF-8 bytes, as Go prints maps. */
export function withSortedKeys(object: Record<string, unknown>): Record<string, unknown> {
  const sorted: Record<string, unknown> = {}
  for (const key of Object.keys(object).sort(compareCodePoints)) setMember(sorted, key, object[key])
  return sorted
}
