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

/** As `withSortedKeys`, in steps; the same object where the keys are sorted already. */
export function* sortedKeysSteps(object: Record<string, unknown>): Generator<void, Record<string, unknown>> {
  const keys = Object.keys(object)
  yield
  let sorted = true
  let plain = true
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    if (wide.test(key)) plain = false
    if (i > 0 && (keys[i - 1] as string) > key) sorted = false
    if (i % keysPerStep === 0) yield
  }
  if (sorted && plain) return object
  // The engine's own order is that of the bytes where there are no wide characters, and far quicker.
  if (plain) keys.sort()
  else keys.sort(compareCodePoints)
  const copy: Record<string, unknown> = {}
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    setMember(copy, key, object[key])
    if (i % keysPerStep === 0) yield
  }
  return copy
}

const keysPerStep = 128

/** A copy with the keys sorted by UTF-8 bytes, as Go prints maps. */
export function withSortedKeys(object: Record<string, unknown>): Record<string, unknown> {
  const sorted: Record<string, unknown> = {}
  for (const key of Object.keys(object).sort(compareCodePoints)) setMember(sorted, key, object[key])
  return sorted
}
