// Derived from depth.ts by `npm run direct`: do not edit.
import type { JsonValue } from '@krmkit/meta'
import type { PatchErrorCode } from '../field-manager-error.ts'
import { maxObjectDepth } from '../typed/walk.ts'
import { tooDeep } from './depth.ts'

/** @throws FieldManagerError for values nested deeper than the limit for objects. */
export function checkDepth(value: JsonValue, code: PatchErrorCode = 'BadPatch', depth = 0): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > maxObjectDepth) throw tooDeep(code)

  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === 'object') checkDepth(item, code, depth + 1)
    }
    return
  }

  for (const key in value) {
    const member = value[key] as JsonValue
    if (typeof member === 'object') checkDepth(member, code, depth + 1)
  }
}
