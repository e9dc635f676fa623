import { largeMapSize, memberCountOfLargeMap, memberNames, type Work } from '@krmkit/base/work'
import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import { ownMember } from '../typed/types.ts'
import { copyMembers } from '../value/copy-members.ts'
import { keysAfter, stepSize } from '../value/keys.ts'
import { jsonKind } from '../value/type-names.ts'
import { checkDepth } from './depth.ts'
import { cleaned } from './directives.ts'
import { sortMembers } from './key-order.ts'

/**
 * Applies a JSON merge patch: objects are merged, null removes a member, and any other value replaces the old one. Unchanged parts are
 * shared with `target`.
 *
 * Null members that have nothing to remove are dropped, even in objects inside lists. As on kube-apiserver, the members of objects that the
 * patch changes or adds are sorted.
 *
 * @throws FieldManagerError `BadPatch` when the patch is not an object.
 * @see RFC 7386
 * @example
 * ```ts
 * import { mergePatch } from '@krmkit/fieldmanager'
 *
 * mergePatch({ replicas: 1, paused: true }, { replicas: 2, paused: null }) // { replicas: 2 }
 * ```
 */
export function* mergePatch(target: JsonValue, patch: JsonValue): Work<JsonValue> {
  const members = requireMap(patch)
  yield* checkDepth(members)
  return yield* mergeObject(isJsonObject(target) ? target : {}, members)
}

export function requireMap(patch: JsonValue): JsonObject {
  if (patch === null) throw new FieldManagerError({ code: 'BadPatch', message: 'Invalid JSON Patch' })
  if (!isJsonObject(patch)) {
    const message = `json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`
    throw new FieldManagerError({ code: 'BadPatch', message: `error decoding patch: ${message}` })
  }
  return patch
}

function* mergeObject(target: JsonObject, patch: JsonObject): Work<JsonObject> {
  const out = yield* copyMembers(target)
  const keys = memberNames(patch)
  if (keys.length > stepSize) yield true
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const value = patch[key] as JsonValue
    const own = ownMember(target, key)
    if (value === null) delete out[key]
    else if (isJsonObject(own)) setMember(out, key, isJsonObject(value) ? yield* mergeObject(own, value) : value)
    else setMember(out, key, typeof value === 'object' ? ((yield* cleaned(value, additions)) as JsonValue) : value)
    if (i % stepSize === 0) yield
  }
  const isLarge = memberCountOfLargeMap(target) !== undefined || keys.length > largeMapSize
  yield* sortMembers(out, isLarge ? yield* keysAfter(out, memberNames(target), keys) : Object.keys(out))
  return out
}

/** Options of `cleaned` for values that the patch adds, which lose their null members. */
export const additions = { nulls: true, directives: false, sorted: true }
