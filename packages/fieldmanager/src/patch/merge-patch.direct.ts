// Derived from merge-patch.ts by `npm run direct`: do not edit.
import { largeMapSize, memberCountOfLargeMap, memberNames, runAtOnce } from '@krmkit/base/work'
import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { ownMember } from '../typed/types.ts'
import { copyMembers } from '../value/copy-members.direct.ts'
import { keysAfter } from '../value/keys.ts'
import { checkDepth } from './depth.direct.ts'
import { cleaned } from './directives.direct.ts'
import { sortMembers } from './key-order.ts'
import { additions, requireMap } from './merge-patch.ts'

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
export function mergePatch(target: JsonValue, patch: JsonValue): JsonValue {
  const members = requireMap(patch)
  checkDepth(members)
  return mergeObject(isJsonObject(target) ? target : {}, members)
}

function mergeObject(target: JsonObject, patch: JsonObject): JsonObject {
  const out = copyMembers(target)
  const keys = memberNames(patch)

  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const value = patch[key] as JsonValue
    const own = ownMember(target, key)
    if (value === null) delete out[key]
    else if (isJsonObject(own)) setMember(out, key, isJsonObject(value) ? mergeObject(own, value) : value)
    else setMember(out, key, typeof value === 'object' ? (cleaned(value, additions) as JsonValue) : value)
  }
  const isLarge = memberCountOfLargeMap(target) !== undefined || keys.length > largeMapSize
  runAtOnce(sortMembers(out, isLarge ? runAtOnce(keysAfter(out, memberNames(target), keys)) : Object.keys(out)))
  return out
}
