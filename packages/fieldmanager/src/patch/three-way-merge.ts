import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import { ownMember } from '../typed/types.ts'
import { equalValues } from '../value/equal.direct.ts'
import { createMergePatch } from './create-merge-patch.ts'
import { mergePatch } from './merge-patch.direct.ts'
import { requireStates, type ThreeWayOptions } from './strategic-diff.ts'

/**
 * Creates the JSON merge patch of client-side apply, for kinds without strategic merge: deletes fields of `original` (last
 * applied) that `modified` (wanted) lacks, and sets fields of `modified` that differ in `current` (live). Lists are replaced as a
 * whole.
 *
 * @throws FieldManagerError `Conflict` with `overwrite: false`, when `current` also changes what the patch changes.
 * @example
 * ```ts
 * import { createThreeWayMergePatch } from '@krmkit/fieldmanager'
 *
 * const original = { spec: { color: 'blue', size: 'L' } }
 * const current = { spec: { ...original.spec, owner: 'jane' } }
 * createThreeWayMergePatch({ original, modified: { spec: { color: 'red' } }, current }) // { spec: { color: 'red', size: null } }
 * ```
 */
export function createThreeWayMergePatch(
  objects: { original: JsonObject; modified: JsonObject; current: JsonObject },
  options: ThreeWayOptions = {},
): JsonObject {
  const { original, modified, current } = requireStates('createThreeWayMergePatch', objects, options)
  const additions = mergePatch(current, filtered(createMergePatch(current, modified), 'additions'))
  const result = mergePatch(additions, filtered(createMergePatch(original, modified), 'deletions'))
  const patch = createMergePatch(current, result as JsonObject)
  if (options.overwrite === false && havePatchConflicts(patch, createMergePatch(original, current))) {
    throw new FieldManagerError({
      code: 'Conflict',
      message: 'the patch changes a field that has been changed since it was last applied',
    })
  }
  return patch
}

/** The deletions of a patch, which are its null members, or its additions, which are all other members. */
function filtered(patch: JsonObject, what: 'additions' | 'deletions'): JsonObject {
  const out: JsonObject = {}
  for (const key of Object.keys(patch)) {
    const value = patch[key] as JsonValue
    if (isJsonObject(value)) {
      const below = filtered(value, what)
      if (what === 'additions' || Object.keys(below).length > 0) setMember(out, key, below)
    } else if ((value === null) === (what === 'deletions')) setMember(out, key, value)
  }
  return out
}

/** Whether two patches set the same member to different values. */
function havePatchConflicts(ours: JsonObject, theirs: JsonObject): boolean {
  return Object.keys(ours).some((key) => {
    const other = ownMember(theirs, key)
    if (other === undefined) return false
    const one = ours[key] as JsonValue
    return isJsonObject(one) && isJsonObject(other) ? havePatchConflicts(one, other) : !equalValues(one, other)
  })
}
