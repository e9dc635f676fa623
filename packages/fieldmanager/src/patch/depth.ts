import { memberNames, type Work } from '@krmkit/base/work'
import type { JsonValue } from '@krmkit/meta'
import { FieldManagerError, type PatchErrorCode } from '../field-manager-error.ts'
import { maxObjectDepth } from '../typed/walk.ts'

/** @throws FieldManagerError for values nested deeper than the limit for objects. */
export function* checkDepth(value: JsonValue, code: PatchErrorCode = 'BadPatch', depth = 0): Work {
  if (typeof value !== 'object' || value === null) return
  if (depth > maxObjectDepth) throw tooDeep(code)
  let visited = 0
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === 'object') yield* checkDepth(item, code, depth + 1)
      if (++visited % membersPerStep === 0) yield
    }
    return
  }
  const keys = memberNames(value)
  if (keys.length > membersPerStep) yield true
  for (const key of keys) {
    const member = value[key] as JsonValue
    if (typeof member === 'object') yield* checkDepth(member, code, depth + 1)
    if (++visited % membersPerStep === 0) yield
  }
}

/** Number of members checked between two yields. */
const membersPerStep = 256

export function tooDeep(code: PatchErrorCode): FieldManagerError {
  return new FieldManagerError({ code, message: `the patch is nested deeper than ${maxObjectDepth} levels` })
}
