import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { runAtOnce, type Work } from '@krmkit/meta/work'
import { requireObjects } from '../arguments.ts'
import { FieldManagerError } from '../field-manager-error.ts'
import { copyMembers, ownMember } from '../typed/types.ts'
import { equalValues } from '../value/order.ts'
import { jsonKind } from '../value/type-names.ts'
import { copyInto, DeferredMerges, keysOf, stepSize } from './deferred-merges.ts'
import { checkDepth, checkDepthSteps } from './depth.ts'
import { cleanedSteps } from './directives.ts'
import { keysAfter, sortMembers } from './key-order.ts'

/**
 * Applies a JSON merge patch: objects are merged, null removes a member, everything else replaces. Unchanged parts are shared
 * with `target`.
 *
 * Null members that have nothing to remove are dropped, also in objects inside lists. As on stock servers, the members of objects that
 * the patch changes or adds are sorted.
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
  return mergeObject(isJsonObject(target) ? target : {}, checked(patch))
}

/**
 * Like {@link mergePatch}, as a generator that runs in slices.
 *
 * @see {@link jsonPatchSteps} for how such a generator runs.
 */
export function* mergePatchSteps(target: JsonValue, patch: JsonValue): Work<JsonValue> {
  const deferred = new DeferredMerges()
  const members = requireMap(patch)
  yield* checkDepthSteps(members)
  const merged = mergeObject(isJsonObject(target) ? target : {}, members, deferred)
  yield* deferred.run()
  return merged
}

function checked(patch: JsonValue): JsonObject {
  const members = requireMap(patch)
  checkDepth(members)
  return members
}

function requireMap(patch: JsonValue): JsonObject {
  if (patch === null) throw new FieldManagerError({ code: 'BadPatch', message: 'Invalid JSON Patch' })
  if (!isJsonObject(patch)) {
    const message = `json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`
    throw new FieldManagerError({ code: 'BadPatch', message: `error decoding patch: ${message}` })
  }
  return patch
}

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

function mergeObject(target: JsonObject, patch: JsonObject, deferred?: DeferredMerges): JsonObject {
  if (deferred !== undefined) {
    const out: JsonObject = {}
    deferred.add(mergeMembers(out, { target, patch, deferred }))
    return out
  }
  const out = copyMembers(target)
  for (const key in patch) mergeMember(out, key, { target, patch })
  runAtOnce(sortMembers(out, Object.keys(out)))
  return out
}

interface MemberMerge {
  readonly target: JsonObject
  readonly patch: JsonObject
  readonly deferred?: DeferredMerges
}

function* mergeMembers(out: JsonObject, merge: MemberMerge): Work {
  const before = yield* copyInto(out, merge.target)
  const keys = yield* keysOf(merge.patch)
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const value = merge.patch[key] as JsonValue
    if (typeof value === 'object' && value !== null && !isJsonObject(ownMember(merge.target, key))) {
      setMember(out, key, (yield* cleanedSteps(value, { nulls: true, directives: false, sorted: true })) as JsonValue)
    } else mergeMember(out, key, merge)
    if (i % stepSize === 0) yield
  }
  yield* sortMembers(out, yield* keysAfter(out, before, keys))
}

function mergeMember(out: JsonObject, key: string, { target, patch, deferred }: MemberMerge): void {
  const value = patch[key] as JsonValue
  const own = ownMember(target, key)
  if (value === null) delete out[key]
  else if (isJsonObject(own) && isJsonObject(value)) setMember(out, key, mergeObject(own, value, deferred))
  else setMember(out, key, isJsonObject(own) ? value : added(value))
}

/** A value that the patch adds, without its null members. */
function added(value: JsonValue): JsonValue {
  if (typeof value !== 'object') return value
  return runAtOnce(cleanedSteps(value, { nulls: true, directives: false, sorted: true })) as JsonValue
}
