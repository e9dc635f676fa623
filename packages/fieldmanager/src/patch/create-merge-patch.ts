import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { requireObjects } from '../arguments.ts'
import { ownMember } from '../typed/types.ts'
import { equalValues } from '../value/equal.direct.ts'

/**
 * Creates the merge patch from `original` to `modified`.
 *
 * @example
 * ```ts
 * import { createMergePatch } from '@krmkit/fieldmanager'
 *
 * createMergePatch({ replicas: 1, paused: true }, { replicas: 2 }) // { replicas: 2, paused: null }
 * ```
 */
export function createMergePatch(original: JsonObject, modified: JsonObject): JsonObject {
  requireObjects('createMergePatch', { original, modified })
  return patchBetween(original, modified)
}

function patchBetween(original: JsonObject, modified: JsonObject): JsonObject {
  const patch: JsonObject = {}
  for (const key of Object.keys(modified)) {
    const before = ownMember(original, key)
    const after = modified[key] as JsonValue
    if (isJsonObject(before) && isJsonObject(after)) {
      const below = patchBetween(before, after)
      if (Object.keys(below).length > 0) setMember(patch, key, below)
    } else if (before === undefined || !equalValues(before, after)) setMember(patch, key, after)
  }
  for (const key of Object.keys(original)) if (ownMember(modified, key) === undefined) setMember(patch, key, null)
  return patch
}
