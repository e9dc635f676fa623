// Derived from strategic-merge.ts by `npm run direct`: do not edit.
import { runAtOnce } from '@krmkit/base/work'
import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import type { StructType } from '@krmkit/schema'
import { requireStructType } from '../arguments.ts'
import { FieldManagerError } from '../field-manager-error.ts'
import { ownMember } from '../typed/types.ts'
import { formatForError } from '../typed/validate.ts'
import { copyMembers } from '../value/copy-members.direct.ts'
import { equalValues } from '../value/equal.direct.ts'
import { keysOf } from '../value/keys.ts'
import { goList } from '../value/type-names.ts'
import { checkDepth } from './depth.direct.ts'
import { cleaned } from './directives.direct.ts'
import {
  deleteFromPrimitiveListPrefix,
  directiveTarget,
  patchDirective,
  retainKeysDirective,
  setElementOrderPrefix,
  unexpectedType,
  unknownDirective,
} from './directives.ts'
import { orderElements, partition } from './element-order.ts'
import { type PatchType, patchMetaOf, patchTypeOf } from './patch-meta.ts'
import { type ListMerge, mergeLists } from './strategic-lists.direct.ts'
import { checkOrder, elementKind, previousOrder } from './strategic-lists.ts'
import { badRetainKeys, listOf, type MemberMerge, requireMap, type StrategicMergeOptions } from './strategic-merge.ts'

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
  const members = requireMap(patch)
  checkDepth(members)
  return mergeStrategic(isJsonObject(original) ? original : {}, members, patchTypeOf(type), { ofPatches: false })
}

export function mergeStrategic(
  original: JsonObject,
  patch: JsonObject,
  type: PatchType,
  options: StrategicMergeOptions,
): JsonObject {
  if (Object.hasOwn(patch, patchDirective)) return executeDirective(patch)
  const out = copyMembers(original)
  mergeMembers(out, patch, type, options)

  return out
}

function mergeMembers(out: JsonObject, patch: JsonObject, type: PatchType, options: StrategicMergeOptions): void {
  const done = new Set<string>()
  const keys = runAtOnce(keysOf(patch))
  retainKeys(out, { patch, keys, done }, options)
  for (const key of keys)
    if (key.startsWith(setElementOrderPrefix)) mergeOrdered(out, { patch, directive: key, done }, type, options)

  deleteItems(out, { patch, keys }, type, options)

  for (const key of keys) {
    if (done.has(key) || key.startsWith(deleteFromPrimitiveListPrefix)) continue
    mergeMember(out, key, patch[key] as JsonValue, { type, options, deletes: false })
  }
}

/**
 * Deletes items from lists of primitives before other members add items, so that an item which a patch both deletes and adds is kept.
 *
 * Differs: kube-apiserver follows the random order of a map.
 */
function deleteItems(
  out: JsonObject,
  { patch, keys }: { readonly patch: JsonObject; readonly keys: readonly string[] },
  type: PatchType,
  options: StrategicMergeOptions,
): void {
  for (const key of keys) {
    if (!key.startsWith(deleteFromPrimitiveListPrefix)) continue
    const value = patch[key] as JsonValue
    if (options.ofPatches) {
      setMember(out, key, value)
      continue
    }
    const target = directiveTarget(key, deleteFromPrimitiveListPrefix)
    mergeMember(out, target, value, { type, options, deletes: true })
  }
}

/** Executes a `$patch` directive, which replaces or deletes the whole map. */
function executeDirective(patch: JsonObject): JsonObject {
  const directive = patch[patchDirective] as JsonValue
  if (directive === 'delete') return {}
  if (directive !== 'replace') throw unknownDirective(directive, patch)
  const out = copyMembers(patch)
  delete out[patchDirective]

  return out
}

function mergeMember(out: JsonObject, key: string, value: JsonValue, { type, options, deletes }: MemberMerge): void {
  if (value === null) {
    delete out[key]
    if (options.ofPatches) setMember(out, key, null)
    return
  }
  const own = ownMember(out, key)
  if (isJsonObject(own) && isJsonObject(value)) {
    const meta = patchMetaOf(type, key, 'object')
    setMember(out, key, meta.strategy === 'replace' ? value : mergeStrategic(own, value, meta.type, options))
  } else if (Array.isArray(own) && Array.isArray(value)) {
    const meta = patchMetaOf(type, key, 'array')
    const join: ListMerge['join'] = (item, change) => mergeStrategic(item, change, meta.type, options)
    setMember(out, key, mergeLists(own, value, { meta, deletes, join }))
  } else if (!deletes) {
    // The value is new, so it is added instead of merged.
    const added = typeof value === 'object' ? cleaned(value, { nulls: !options.ofPatches, directives: true }) : value
    if (added === undefined) delete out[key]
    else setMember(out, key, added)
  }
}

/** Keeps only the members listed by the directive; the patch may not set any other. */
function retainKeys(
  out: JsonObject,
  { patch, keys: own, done }: { readonly patch: JsonObject; readonly keys: readonly string[]; readonly done: Set<string> },
  { ofPatches }: StrategicMergeOptions,
): void {
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

  for (const key of own) {
    const free =
      key === retainKeysDirective || key.startsWith(deleteFromPrimitiveListPrefix) || key.startsWith(setElementOrderPrefix)
    if (!free && patch[key] !== null && !kept.has(key)) throw badRetainKeys()
  }
  for (const key of Object.keys(out)) if (!kept.has(key)) delete out[key]
}

/** Merges a list and orders it as `$setElementOrder` requires. */
function mergeOrdered(
  out: JsonObject,
  { patch, directive, done }: { patch: JsonObject; directive: string; done: Set<string> },
  type: PatchType,
  options: StrategicMergeOptions,
): void {
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
  const join: ListMerge['join'] = (item, changed) => mergeStrategic(item, changed, meta.type, options)
  checkOrder(changes, wanted, mergeKey)
  if (own === undefined && change === undefined) return
  const merged =
    change === undefined
      ? before
      : own === undefined
        ? (cleaned(changes, { nulls: false, directives: true }) as JsonValue[])
        : mergeLists(before, changes, { meta, deletes: false, join })

  const parts = runAtOnce(partition(merged, wanted, mergeKey))

  const maps = elementKind([before, changes]) === 'object'
  const order = own === undefined ? before : previousOrder(before, changes, mergeKey)
  setMember(out, key, runAtOnce(orderElements(parts, { wanted, before: order, mergeKey, maps })))
  done.add(key)
}
