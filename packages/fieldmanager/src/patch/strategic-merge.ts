import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { rememberMemberNames, runAtOnce, type Work } from '@krmkit/meta/work'
import type { StructType } from '@krmkit/schema'
import { requireStructType } from '../arguments.ts'
import { FieldManagerError } from '../field-manager-error.ts'
import { copyMembers, ownMember } from '../typed/types.ts'
import { formatForError } from '../typed/validate.ts'
import { equalValues } from '../value/order.ts'
import { goList, jsonKind } from '../value/type-names.ts'
import { copyInto, DeferredMerges, keysOf, stepSize } from './deferred-merges.ts'
import { checkDepth, checkDepthSteps } from './depth.ts'
import {
  cleanedSteps,
  deleteFromPrimitiveListPrefix,
  directiveTarget,
  patchDirective,
  retainKeysDirective,
  setElementOrderPrefix,
  unexpectedType,
  unknownDirective,
  withoutDirectives,
  withoutNulls,
} from './directives.ts'
import { orderElements, partition } from './element-order.ts'
import { keysAfter } from './key-order.ts'
import { type PatchMeta, type PatchType, patchMetaOf, patchTypeOf } from './patch-meta.ts'
import { checkOrder, elementKind, type ListMerge, mergeLists, previousOrder } from './strategic-lists.ts'

/**
 * Applies a strategic merge patch: structs and maps are merged, lists are merged by key or value where the field requires it and
 * replaced elsewhere; directives replace, delete, reorder or restrict.
 *
 * @throws FieldManagerError `BadPatch` for malformed patches and directives, `Unprocessable` for lists that cannot be merged.
 * @example
 * ```ts
 * import { strategicMergePatch } from '@krmkit/fieldmanager'
 * import { builtInTypes } from '@krmkit/kinds'
 *
 * const pod = { spec: { containers: [{ name: 'app', image: 'app:1' }, { name: 'proxy', image: 'proxy:1' }] } }
 * const patch = { spec: { containers: [{ name: 'app', image: 'app:2' }] } }
 * strategicMergePatch(builtInTypes().struct('core/v1.Pod'), pod, patch)
 * // { spec: { containers: [{ name: 'app', image: 'app:2' }, { name: 'proxy', image: 'proxy:1' }] } }
 * ```
 */
export function strategicMergePatch(type: StructType, original: JsonValue, patch: JsonValue): JsonValue {
  requireStructType('strategicMergePatch', type)
  if (patch === null) return original
  return mergeStrategic(isJsonObject(original) ? original : {}, checked(patch), patchTypeOf(type), { ofPatches: false })
}

/**
 * Like {@link strategicMergePatch}, as a generator that runs in slices.
 *
 * @see {@link jsonPatchSteps} for how such a generator runs.
 */
export function* strategicMergePatchSteps(type: StructType, original: JsonValue, patch: JsonValue): Work<JsonValue> {
  if (patch === null) return original
  const deferred = new DeferredMerges()
  const options = { ofPatches: false, deferred }
  const members = requireMap(patch)
  yield* checkDepthSteps(members)
  const merged = mergeMap(isJsonObject(original) ? original : {}, members, patchTypeOf(type), options)
  yield* deferred.run()
  return merged
}

function checked(patch: JsonValue): JsonObject {
  const members = requireMap(patch)
  checkDepth(members)
  return members
}

function requireMap(patch: JsonValue): JsonObject {
  if (!isJsonObject(patch)) {
    throw new FieldManagerError({
      code: 'BadPatch',
      message: `json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`,
    })
  }
  return patch
}

/** Options of `mergeStrategic`. With `ofPatches`, two patches are merged: directives and nulls are kept instead of executed. */
export interface StrategicMergeOptions {
  readonly ofPatches: boolean
  /** Receives deferred members; when absent, everything is merged immediately. */
  readonly deferred?: DeferredMerges | undefined
}

export function mergeStrategic(
  original: JsonObject,
  patch: JsonObject,
  type: PatchType,
  options: StrategicMergeOptions,
): JsonObject {
  if (Object.hasOwn(patch, patchDirective)) return executeDirective(patch)
  const out = copyMembers(original)
  const steps = mergeMembers(out, patch, type, options)
  if (options.deferred === undefined) runAtOnce(steps)
  else options.deferred.add(steps)
  return out
}

/** Like `mergeStrategic`, for maps that are not read before the merge ends, so that copying is deferred too. */
function mergeMap(original: JsonObject, patch: JsonObject, type: PatchType, options: StrategicMergeOptions): JsonObject {
  if (options.deferred === undefined) return mergeStrategic(original, patch, type, options)
  if (Object.hasOwn(patch, patchDirective)) return executeDirective(patch, options.deferred)
  const out: JsonObject = {}
  options.deferred.add(copyInto(out, original))
  options.deferred.add(mergeMembers(out, patch, type, options))
  return out
}

function* mergeMembers(out: JsonObject, patch: JsonObject, type: PatchType, options: StrategicMergeOptions): Work {
  const done = new Set<string>()
  const keys = yield* keysOf(patch)
  yield* retainKeys(out, { patch, keys, done }, options)
  const before = keys.length > manyMembers ? yield* keysOf(out) : undefined
  for (const key of keys)
    if (key.startsWith(setElementOrderPrefix)) yield* mergeOrdered(out, { patch, directive: key, done }, type, options)
  yield
  yield* deleteItems(out, { patch, keys }, type, options)
  let members = 0
  for (const key of keys) {
    if (done.has(key) || key.startsWith(deleteFromPrimitiveListPrefix)) continue
    yield* completeMember(out, key, mergeMember(out, key, patch[key] as JsonValue, { type, options, deletes: false }))
    if (++members % stepSize === 0) yield
  }
  if (before !== undefined) rememberMemberNames(out, yield* keysAfter(out, before, keys))
}

/** Number of members of a patch above which enumerating the result takes long. */
const manyMembers = 10_000

/**
 * Deletes items from lists of primitives, before other members add items: an item that a patch deletes and adds is kept.
 *
 * Differs: the stock server follows the random order of a map.
 */
function* deleteItems(
  out: JsonObject,
  { patch, keys }: { readonly patch: JsonObject; readonly keys: readonly string[] },
  type: PatchType,
  options: StrategicMergeOptions,
): Work {
  for (const key of keys) {
    if (!key.startsWith(deleteFromPrimitiveListPrefix)) continue
    const value = patch[key] as JsonValue
    if (options.ofPatches) {
      setMember(out, key, value)
      continue
    }
    const target = directiveTarget(key, deleteFromPrimitiveListPrefix)
    yield* completeMember(out, target, mergeMember(out, target, value, { type, options, deletes: true }))
  }
}

/** Runs the merge of a member, if any, and sets the member to its result. */
function* completeMember(out: JsonObject, key: string, steps: Work<JsonValue | undefined> | undefined): Work {
  if (steps === undefined) return
  const merged = yield* steps
  if (merged === undefined) delete out[key]
  else setMember(out, key, merged)
}

/** Executes a `$patch` directive, which replaces or deletes the whole map. @param deferred fills the result, when present. */
function executeDirective(patch: JsonObject, deferred?: DeferredMerges): JsonObject {
  const directive = patch[patchDirective] as JsonValue
  if (directive === 'delete') return {}
  if (directive !== 'replace') throw unknownDirective(directive, patch)
  if (deferred === undefined) {
    const { [patchDirective]: _, ...rest } = patch
    return rest
  }
  const out: JsonObject = {}
  deferred.add(copyMap(out, patch))
  return out
}

function* copyMap(out: JsonObject, patch: JsonObject): Work {
  const keys = yield* copyInto(out, patch)
  delete out[patchDirective]
  rememberMemberNames(out, yield* keysAfter(out, keys, []))
}

interface MemberMerge {
  readonly type: PatchType
  readonly options: StrategicMergeOptions
  /** The value lists items to delete from a list of primitives. */
  readonly deletes: boolean
}

/** @returns the merge to run, when both values are lists, and for an added map or list; its result is the member. */
function mergeMember(
  out: JsonObject,
  key: string,
  value: JsonValue,
  { type, options, deletes }: MemberMerge,
): Work<JsonValue | undefined> | undefined {
  if (value === null) {
    delete out[key]
    if (options.ofPatches) setMember(out, key, null)
    return undefined
  }
  const own = ownMember(out, key)
  if (isJsonObject(own) && isJsonObject(value)) {
    const meta = patchMetaOf(type, key, 'object')
    setMember(out, key, meta.strategy === 'replace' ? value : mergeMap(own, value, meta.type, options))
  } else if (Array.isArray(own) && Array.isArray(value)) {
    const meta = patchMetaOf(type, key, 'array')
    return mergeLists(own, value, listMerge(meta, options, deletes))
  } else if (!deletes) {
    if (options.deferred !== undefined && typeof value === 'object')
      return cleanedSteps(value, { nulls: !options.ofPatches, directives: true })
    addValue(out, key, options.ofPatches ? value : withoutNulls(value))
  }
  return undefined
}

function listMerge(meta: PatchMeta, options: StrategicMergeOptions, deletes: boolean): ListMerge {
  return { meta, deletes, deferred: options.deferred, join: (item, change) => mergeStrategic(item, change, meta.type, options) }
}

/** Adds a value without nulls and directives, as there is nothing to merge it with. */
function addValue(out: JsonObject, key: string, value: JsonValue): void {
  const kept = withoutDirectives(value)
  if (kept === undefined) delete out[key]
  else setMember(out, key, kept)
}

/** Keeps only the members listed by the directive; the patch may not set any other. */
function* retainKeys(
  out: JsonObject,
  { patch, keys: own, done }: { readonly patch: JsonObject; readonly keys: readonly string[]; readonly done: Set<string> },
  { ofPatches }: StrategicMergeOptions,
): Work {
  if (!Object.hasOwn(patch, retainKeysDirective)) return
  done.add(retainKeysDirective)
  const keys = patch[retainKeysDirective] as JsonValue
  if (ofPatches) {
    const earlier = ownMember(out, retainKeysDirective)
    if (earlier !== undefined && !equalValues(earlier, keys)) {
      throw new FieldManagerError({
        code: 'BadPatch',
        message: `${formatForError(earlier)} and ${formatForError(keys)} are not deep equal: this may happen when calculating the 3-way diff patch`,
      })
    }
    out[retainKeysDirective] = keys
    return
  }
  if (!Array.isArray(keys)) throw badRetainKeys()
  const kept = new Set(keys)
  yield
  for (const key of own) {
    const free =
      key === retainKeysDirective || key.startsWith(deleteFromPrimitiveListPrefix) || key.startsWith(setElementOrderPrefix)
    if (!free && patch[key] !== null && !kept.has(key)) throw badRetainKeys()
  }
  for (const key of Object.keys(out)) if (!kept.has(key)) delete out[key]
}

function badRetainKeys(): FieldManagerError {
  return new FieldManagerError({ code: 'BadPatch', message: 'invalid patch format of retainKeys' })
}

/** Merges a list and orders it as `$setElementOrder` requires. */
function* mergeOrdered(
  out: JsonObject,
  { patch, directive, done }: { patch: JsonObject; directive: string; done: Set<string> },
  type: PatchType,
  options: StrategicMergeOptions,
): Work {
  const wanted = patch[directive] as JsonValue
  done.add(directive)
  if (options.ofPatches) {
    const own = ownMember(out, directive)
    if (own !== undefined && !equalValues(own, wanted))
      throw new FieldManagerError({ code: 'BadPatch', message: 'invalid patch format of setElementOrder list' })
    out[directive] = wanted
  }
  if (!Array.isArray(wanted)) throw unexpectedType(goList, wanted)
  const key = directiveTarget(directive, setElementOrderPrefix)
  const own = ownMember(out, key)
  const change = ownMember(patch, key)
  const before = listOf(own)
  const changes = listOf(change)
  const meta = patchMetaOf(type, key, 'array')
  const { mergeKey } = meta
  checkOrder(changes, wanted, mergeKey)
  if (own === undefined && change === undefined) return
  const merged =
    change === undefined
      ? before
      : own === undefined
        ? (withoutDirectives(changes) as JsonValue[])
        : yield* mergeLists(before, changes, listMerge(meta, options, false))
  yield true
  const parts = yield* partition(merged, wanted, mergeKey)
  yield true
  const maps = elementKind([before, changes]) === 'object'
  const order = own === undefined ? before : previousOrder(before, changes, mergeKey)
  setMember(out, key, yield* orderElements(parts, { wanted, before: order, mergeKey, maps }))
  done.add(key)
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw unexpectedType(goList, value)
  return value
}
