import type { JsonValue } from '@krmkit/meta'
import { FieldManagerError, type PatchErrorCode } from '../field-manager-error.ts'
import { maxObjectDepth } from '../typed/walk.ts'

/** @throws FieldManagerError for values nested deeper than objects may be. */
export function checkDepth(value: JsonValue, code: PatchErrorCode = 'BadPatch', depth = 0): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > maxObjectDepth)
    throw new FieldManagerError({ code, message: `the patch is nested deeper than ${maxObjectDepth} levels` })
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') checkDepth(item, code, depth + 1)
    return
  }
  for (const key in value) {
    const member = value[key] as JsonValue
    if (typeof member === 'object') checkDepth(member, code, depth + 1)
  }
}
