import type { JsonObject, JsonValue } from '@krmkit/meta'
import { memberNames, type Work } from '@krmkit/meta/work'
import { FieldManagerError, type PatchErrorCode } from '../field-manager-error.ts'
import { maxObjectDepth } from '../typed/walk.ts'

/** As `checkDepth`, with pauses. @throws FieldManagerError */
export function* checkDepthSteps(value: JsonValue): Work {
  const levels: { readonly value: object; readonly depth: number }[] = []
  const push = (inner: JsonValue, depth: number) => {
    if (typeof inner !== 'object' || inner === null) return
    if (depth > maxObjectDepth) throw tooDeep('BadPatch')
    levels.push({ value: inner, depth })
  }
  push(value, 0)
  let count = 0
  for (let level = levels.pop(); level !== undefined; level = levels.pop()) {
    const { value: outer, depth } = level
    const members = Array.isArray(outer) ? outer : undefined
    const keys = members === undefined ? memberNames(outer) : []
    if (keys.length > membersPerStep) yield true
    const length = members?.length ?? keys.length
    for (let i = 0; i < length; i++) {
      push((members === undefined ? (outer as JsonObject)[keys[i] as string] : members[i]) as JsonValue, depth + 1)
      if (++count % membersPerStep === 0) yield
    }
  }
}

/** Members checked between two yields. */
const membersPerStep = 256

function tooDeep(code: PatchErrorCode): FieldManagerError {
  return new FieldManagerError({ code, message: `the patch is nested deeper than ${maxObjectDepth} levels` })
}

/** @throws FieldManagerError for values nested deeper than objects may be. */
export function checkDepth(value: JsonValue, code: PatchErrorCode = 'BadPatch', depth = 0): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > maxObjectDepth) throw tooDeep(code)
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') checkDepth(item, code, depth + 1)
    return
  }
  for (const key in value) {
    const member = value[key] as JsonValue
    if (typeof member === 'object') checkDepth(member, code, depth + 1)
  }
}
