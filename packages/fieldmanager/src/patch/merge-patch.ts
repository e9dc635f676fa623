import type { JsonObject, JsonValue } from '@krmkit/meta'
import { ownMember, setMember } from '../typed/types.ts'
import { equalValues, isMap } from '../value/order.ts'
import { jsonKind } from './json-kind.ts'
import { PatchError } from './patch-error.ts'

/**
 * Applies a JSON merge patch: members are joined, null removes a member, everything else replaces. What is unchanged is shared
 * with `target`.
 *
 * Nulls that have nothing to remove disappear, in objects inside lists too.
 *
 * @throws PatchError `BadPatch` when the patch is no object.
 * @see RFC 7386
 */
export function mergePatch(target: JsonValue, patch: JsonValue): JsonValue {
  if (patch === null) throw new PatchError('BadPatch', 'Invalid JSON Patch')
  if (!isMap(patch)) {
    const message = `json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`
    throw new PatchError('BadPatch', `error decoding patch: ${message}`)
  }
  return mergeObject(isMap(target) ? target : {}, patch)
}

/** The merge patch that makes `modified` of `original`. */
export function createMergePatch(original: JsonObject, modified: JsonObject): JsonObject {
  const patch: JsonObject = {}
  for (const key of Object.keys(modified)) {
    const before = ownMember(original, key)
    const after = modified[key] as JsonValue
    if (isMap(before) && isMap(after)) {
      const below = createMergePatch(before, after)
      if (Object.keys(below).length > 0) setMember(patch, key, below)
    } else if (before === undefined || !equalValues(before, after)) setMember(patch, key, after)
  }
  for (const key of Object.keys(original)) if (ownMember(modified, key) === undefined) setMember(patch, key, null)
  return patch
}

function mergeObject(target: JsonObject, patch: JsonObject): JsonObject {
  const out: JsonObject = { ...target }
  for (const key in patch) {
    const value = patch[key] as JsonValue
    const own = ownMember(target, key)
    if (value === null) delete out[key]
    else if (isMap(own) && isMap(value)) setMember(out, key, mergeObject(own, value))
    else setMember(out, key, isMap(own) ? value : withoutNulls(value))
  }
  return out
}

function withoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isMap(value)) return value
  const out: JsonObject = {}
  for (const key in value) {
    const member = value[key] as JsonValue
    if (member !== null) setMember(out, key, withoutNulls(member))
  }
  return out
}
