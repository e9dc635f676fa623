import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { StructType } from '@krmkit/schema'
import { ownMember, setMember } from '../typed/types.ts'
import { show } from '../typed/validate.ts'
import { equalValues, isMap } from '../value/order.ts'
import {
  deleteFromPrimitiveListPrefix,
  directiveTarget,
  noMergeKey,
  patchDirective,
  retainKeysDirective,
  setElementOrderPrefix,
  unknownDirective,
  withoutDirectives,
} from './directives.ts'
import { identityOf, orderElements } from './element-order.ts'
import { jsonKind } from './json-kind.ts'
import { PatchError } from './patch-error.ts'
import { type PatchType, patchMetaOf, patchTypeOf } from './patch-meta.ts'

/**
 * Applies a strategic merge patch: structs and maps are joined, lists are joined by merge key or value where their
 * field says so and replaced elsewhere, and directives replace, delete, reorder or restrict.
 *
 * @throws PatchError `BadPatch` for malformed patches and directives, `Unprocessable` for lists that cannot be merged.
 */
export function strategicMergePatch(type: StructType, original: JsonValue, patch: JsonValue): JsonValue {
  if (patch === null) return original
  if (!isMap(patch)) {
    throw new PatchError('BadPatch', `json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`)
  }
  return mergeStrategic(isMap(original) ? original : {}, patch, patchTypeOf(type), { ofPatches: false })
}

/** With `ofPatches` two patches are joined: directives and nulls are kept instead of carried out. */
export interface StrategicMergeOptions {
  readonly ofPatches: boolean
}

export function mergeStrategic(
  original: JsonObject,
  patch: JsonObject,
  type: PatchType,
  options: StrategicMergeOptions,
): JsonObject {
  if (Object.hasOwn(patch, patchDirective)) return carryOut(patch)
  const out: JsonObject = { ...original }
  const done = new Set<string>()
  retainKeys(out, patch, done, options)
  for (const key in patch) if (key.startsWith(setElementOrderPrefix)) mergeOrdered(out, patch, key, type, done, options)
  for (const key in patch) {
    if (done.has(key)) continue
    const value = patch[key] as JsonValue
    if (key.startsWith(deleteFromPrimitiveListPrefix)) {
      if (options.ofPatches) setMember(out, key, value)
      else deletePrimitives(out, directiveTarget(key, deleteFromPrimitiveListPrefix), value, type)
    } else mergeMember(out, key, value, type, options)
  }
  return out
}

/** `$patch` of a map concerns the whole of it. */
function carryOut(patch: JsonObject): JsonObject {
  const directive = patch[patchDirective] as JsonValue
  if (directive === 'delete') return {}
  if (directive !== 'replace') throw unknownDirective(directive, patch)
  const { [patchDirective]: _, ...rest } = patch
  return rest
}

function mergeMember(out: JsonObject, key: string, value: JsonValue, type: PatchType, options: StrategicMergeOptions): void {
  if (value === null) {
    if (options.ofPatches) setMember(out, key, null)
    else delete out[key]
    return
  }
  const own = ownMember(out, key)
  if (isMap(own) && isMap(value)) {
    const meta = patchMetaOf(type, key, 'object')
    setMember(out, key, meta.strategy === 'replace' ? value : mergeStrategic(own, value, meta.type, options))
  } else if (Array.isArray(own) && Array.isArray(value)) {
    setMember(out, key, mergeLists(own, value, key, type, options))
  } else setMember(out, key, options.ofPatches ? value : withoutDirectives(value))
}

/** Keeps only the members that the directive lists, which must be all that the patch sets. */
function retainKeys(out: JsonObject, patch: JsonObject, done: Set<string>, { ofPatches }: StrategicMergeOptions): void {
  if (!Object.hasOwn(patch, retainKeysDirective)) return
  done.add(retainKeysDirective)
  const keys = patch[retainKeysDirective] as JsonValue
  if (ofPatches) {
    const own = ownMember(out, retainKeysDirective)
    if (own !== undefined && !equalValues(own, keys)) {
      throw new PatchError(
        'BadPatch',
        `${show(own)} and ${show(keys)} are not deep equal: this may happen when calculating the 3-way diff patch`,
      )
    }
    out[retainKeysDirective] = keys
    return
  }
  if (!Array.isArray(keys)) throw new PatchError('BadPatch', 'invalid patch format of retainKeys')
  const kept = new Set(keys)
  for (const key in patch) {
    const free =
      key === retainKeysDirective || key.startsWith(deleteFromPrimitiveListPrefix) || key.startsWith(setElementOrderPrefix)
    if (!free && patch[key] !== null && !kept.has(key))
      throw new PatchError('BadPatch', "patch content doesn't match retainKeys list")
  }
  for (const key of Object.keys(out)) if (!kept.has(key)) delete out[key]
}

/** Merges a list and puts it into the order that `$setElementOrder` says. */
function mergeOrdered(
  out: JsonObject,
  patch: JsonObject,
  directive: string,
  type: PatchType,
  done: Set<string>,
  options: StrategicMergeOptions,
): void {
  const order = patch[directive] as JsonValue
  done.add(directive)
  if (options.ofPatches) {
    const own = ownMember(out, directive)
    if (own !== undefined && !equalValues(own, order))
      throw new PatchError('BadPatch', 'invalid patch format of setElementOrder list')
    out[directive] = order
  }
  const key = directiveTarget(directive, setElementOrderPrefix)
  const wanted = listOr(order, directive)
  const own = ownMember(out, key)
  const change = ownMember(patch, key)
  const before = own === undefined || own === null ? [] : listOr(own, key)
  const changes = change === undefined || change === null ? [] : listOr(change, key)
  const meta = patchMetaOf(type, key, 'array')
  checkOrder(changes, wanted, meta.mergeKey)
  if (own === undefined && change === undefined) return
  let merged: JsonValue[] = before
  if (Array.isArray(change))
    merged =
      own === undefined ? (options.ofPatches ? changes : addedItems(changes)) : mergeLists(before, changes, key, type, options)
  requireKeys(merged, meta.mergeKey)
  requireKeys(wanted, meta.mergeKey)
  setMember(out, key, orderElements(merged, wanted, before, meta.mergeKey))
  done.add(key)
}

function addedItems(changes: JsonValue[]): JsonValue[] {
  return withoutDirectives(changes) as JsonValue[]
}

function mergeLists(
  own: JsonValue[],
  change: JsonValue[],
  key: string,
  type: PatchType,
  options: StrategicMergeOptions,
): JsonValue[] {
  const meta = patchMetaOf(type, key, 'array')
  if (meta.strategy !== 'merge') return change
  if (own.length === 0 && change.length === 0) return own
  if (elementKind([own, change]) !== 'object') {
    return orderElements([...new Set([...own, ...change])], change, own, '')
  }
  const { mergeKey } = meta
  if (mergeKey === '') throw new PatchError('Unprocessable', `cannot merge lists without merge key for type ${meta.type.kind}`)
  const { items, changes } = specialItems(own as JsonObject[], change as JsonObject[], mergeKey)
  const merged = mergeItems(items, changes, mergeKey, meta.type, options)
  requireKeys(merged, mergeKey)
  return orderElements(merged, changes, items, mergeKey)
}

/** Carries out items that are directives: `$patch: delete` with a merge key, and `$patch: replace` for the whole list. */
function specialItems(own: JsonObject[], change: JsonObject[], mergeKey: string): { items: JsonObject[]; changes: JsonObject[] } {
  const changes: JsonObject[] = []
  const deleted = new Set<JsonValue>()
  let replace = false
  for (const item of change) {
    if (!Object.hasOwn(item, patchDirective)) {
      changes.push(item)
      continue
    }
    const directive = item[patchDirective] as JsonValue
    if (directive === 'replace') replace = true
    else if (directive === 'delete') {
      if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey)
      deleted.add(item[mergeKey] as JsonValue)
    } else if (directive === 'merge') throw new PatchError('BadPatch', 'merging lists cannot yet be specified in the patch')
    else throw unknownDirective(directive, item)
  }
  if (replace) return { items: changes, changes: [] }
  return {
    items: deleted.size === 0 ? own : own.filter((item) => !deleted.has(identityOf(item, mergeKey) as JsonValue)),
    changes,
  }
}

function mergeItems(
  items: readonly JsonObject[],
  changes: readonly JsonObject[],
  mergeKey: string,
  type: PatchType,
  options: StrategicMergeOptions,
): JsonObject[] {
  const out = [...items]
  const at = new Map<JsonValue, number>()
  items.forEach((item, index) => {
    const identity = identityOf(item, mergeKey)
    if (identity !== undefined && !at.has(identity)) at.set(identity, index)
  })
  for (const change of changes) {
    if (!Object.hasOwn(change, mergeKey)) throw noMergeKey(change, mergeKey)
    const identity = change[mergeKey] as JsonValue
    const index = at.get(identity)
    if (index !== undefined) out[index] = mergeStrategic(out[index] as JsonObject, change, type, options)
    else {
      at.set(identity, out.length)
      out.push(options.ofPatches ? change : (withoutDirectives(change) as JsonObject))
    }
  }
  return out
}

function deletePrimitives(out: JsonObject, key: string, deleted: JsonValue, type: PatchType): void {
  const own = ownMember(out, key)
  if (deleted === null || own === undefined) {
    if (deleted === null) delete out[key]
    return
  }
  if (!Array.isArray(own) || !Array.isArray(deleted)) throw new PatchError('BadPatch', 'invalid patch format of primitive list')
  if (patchMetaOf(type, key, 'array').strategy !== 'merge') {
    setMember(out, key, deleted)
    return
  }
  if (own.length === 0 && deleted.length === 0) return
  elementKind([own, deleted])
  const gone = new Set(deleted)
  setMember(
    out,
    key,
    own.filter((item) => !gone.has(item)),
  )
}

/** Items of the patch must stand in the order that the directive says. */
function checkOrder(changes: readonly JsonValue[], wanted: readonly JsonValue[], mergeKey: string): void {
  if (changes.length === 0 || wanted.length === 0) return
  let at = 0
  for (const item of changes) {
    if (isMap(item) && Object.hasOwn(item, patchDirective)) continue
    if (mergeKey !== '' && (!isMap(item) || !Object.hasOwn(item, mergeKey))) throw noMergeKey(isMap(item) ? item : {}, mergeKey)
    const identity = identityOf(item, mergeKey)
    while (at < wanted.length && identityOf(wanted[at] as JsonValue, mergeKey) !== identity) at++
    if (at++ >= wanted.length) {
      const text = `The order in patch list:\n${show([...changes])}\n doesn't match ${setElementOrderPrefix} list:\n${show([...wanted])}\n`
      throw new PatchError('BadPatch', text)
    }
  }
}

function requireKeys(items: readonly JsonValue[], mergeKey: string): void {
  if (mergeKey === '') return
  for (const item of items) {
    if (!isMap(item)) throw new PatchError('BadPatch', `expected a map with merge key ${mergeKey}, got ${show(item)}`)
    if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey)
  }
}

/** What all items of some lists are. */
export function elementKind(lists: readonly (readonly JsonValue[])[]): string {
  let kind: string | undefined
  for (const list of lists) {
    for (const item of list) {
      const own = jsonKind(item)
      if (own === 'array') throw new PatchError('Unprocessable', 'lists of lists are not supported')
      if (kind !== undefined && kind !== own)
        throw new PatchError('BadPatch', `list element types are not identical: ${show([...list])}`)
      kind = own
    }
  }
  return kind ?? 'null'
}

function listOr(value: JsonValue, key: string): JsonValue[] {
  if (Array.isArray(value)) return value
  throw new PatchError('BadPatch', `expected a list at ${key}, got ${show(value)}`)
}
