import type { Work } from '@krmkit/base/work'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import { formatForError } from '../typed/validate.ts'
import { stepSize } from '../value/keys.ts'
import { goList, goMap, jsonKind } from '../value/type-names.ts'
import { noMergeKey, patchDirective, unexpectedType, unknownDirective } from './directives.ts'
import { orderElements, partition } from './element-order.ts'
import type { PatchMeta } from './patch-meta.ts'

/** List merging of strategic merge patches: by merge key or by value where the field requires it, replacement elsewhere. */

export interface ListMerge {
  readonly meta: PatchMeta
  /** Merges two items with the same key. */
  readonly join: (item: JsonObject, change: JsonObject) => Work<JsonObject>
  /** Whether the change lists items to delete. */
  readonly deletes: boolean
}

/** @throws FieldManagerError `BadPatch`, `Unprocessable` */
export function* mergeLists(own: JsonValue, change: JsonValue, merge: ListMerge): Work<JsonValue[]> {
  const { meta, deletes } = merge
  if (!Array.isArray(own)) throw unexpectedType(goList, own)
  if (!Array.isArray(change)) throw unexpectedType(goList, change)
  if (meta.strategy !== 'merge' && !deletes) return change
  if (own.length === 0 && change.length === 0) return own
  const maps = elementKind([own, change]) === 'object'
  const { mergeKey } = meta
  if (!maps) {
    if (deletes) {
      const gone = new Set(change)
      yield true
      return own.filter((item) => !gone.has(item))
    }
    const merged = yield* distinct(own, change)
    yield true
    const parts = yield* partition(merged, change, mergeKey)
    yield true
    return yield* orderElements(parts, { wanted: change, before: own, mergeKey, maps })
  }
  if (mergeKey === '')
    throw new FieldManagerError({ code: 'BadPatch', message: `cannot merge lists without merge key for ${meta.type.kind}` })
  yield true
  const { items, changes } = executeItemDirectives(own as JsonObject[], change as JsonObject[], mergeKey)
  yield true
  const merged = yield* mergeItems(items, changes, merge)
  yield true
  const parts = yield* partition(merged, changes, mergeKey)
  yield true
  return yield* orderElements(parts, { wanted: changes, before: items, mergeKey, maps })
}

/** The distinct items of both lists. */
function* distinct(...lists: readonly JsonValue[][]): Work<JsonValue[]> {
  const out = new Set<JsonValue>()
  for (const list of lists) {
    for (let i = 0; i < list.length; i++) {
      out.add(list[i] as JsonValue)
      if (i % stepSize === stepSize - 1) yield
    }
  }
  return [...out]
}

/** Executes directive items: `$patch: delete` by merge key, `$patch: replace` for the whole list. */
export function executeItemDirectives(
  own: JsonObject[],
  change: readonly JsonObject[],
  mergeKey: string,
): { items: JsonObject[]; changes: JsonObject[] } {
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
    } else if (directive === 'merge')
      throw new FieldManagerError({ code: 'BadPatch', message: 'merging lists cannot yet be specified in the patch' })
    else throw unknownDirective(directive, item)
  }
  if (replace) return { items: changes, changes: [] }
  const kept = (item: JsonObject) => !Object.hasOwn(item, mergeKey) || !deleted.has(item[mergeKey] as JsonValue)
  return { items: deleted.size === 0 ? own : own.filter(kept), changes }
}

/**
 * The order that `$setElementOrder` keeps for items that it does not list. Without deletions, it is the order before the patch.
 * kube-apiserver deletes items in place, and new items take the memory of deleted ones in this list, so the remaining items are followed by
 * as many new items as were deleted.
 *
 * @throws FieldManagerError `BadPatch`
 */
export function previousOrder(own: JsonValue[], change: readonly JsonValue[], mergeKey: string): JsonValue[] {
  if (mergeKey === '' || !own.every(isJsonObject) || !change.every(isJsonObject)) return own
  const { items, changes } = executeItemDirectives(own, change, mergeKey)
  if (items.length >= own.length) return own
  const known = new Set(items.map((item) => item[mergeKey]))
  const added = changes.filter((item) => !known.has(item[mergeKey]) && known.add(item[mergeKey]))
  return [...items, ...added].slice(0, own.length)
}

/** Merges changes with the same key one after another; new items are added unchanged, including nulls. */
function* mergeItems(
  items: readonly JsonObject[],
  changes: readonly JsonObject[],
  { meta: { mergeKey }, join }: ListMerge,
): Work<JsonObject[]> {
  const out = [...items]
  const at = new Map<JsonValue, number>()
  items.forEach((item, index) => {
    const identity = item[mergeKey]
    if (Object.hasOwn(item, mergeKey) && !at.has(identity as JsonValue)) at.set(identity as JsonValue, index)
  })
  let joins = 0
  for (const change of changes) {
    if (!Object.hasOwn(change, mergeKey)) throw noMergeKey(change, mergeKey)
    const identity = change[mergeKey] as JsonValue
    const index = at.get(identity)
    if (index === undefined) {
      at.set(identity, out.length)
      out.push(change)
      continue
    }
    out[index] = yield* join(out[index] as JsonObject, change)
    if (++joins % stepSize === 0) yield
  }
  return out
}

/** Requires the patch items to be in the order of the directive. @throws FieldManagerError `BadPatch` */
export function checkOrder(changes: readonly JsonValue[], wanted: readonly JsonValue[], mergeKey: string): void {
  if (changes.length === 0 || wanted.length === 0) return
  const kept = mergeKey === '' ? changes : changes.filter((item) => mapOf(item)[patchDirective] !== 'delete')
  let at = 0
  let next = 0
  while (at < kept.length && next < wanted.length) {
    const item = kept[at] as JsonValue
    const other = wanted[next] as JsonValue
    if (isJsonObject(item) && Object.hasOwn(item, patchDirective)) {
      at++
      continue
    }
    if (mergeKey === '' ? item === other : keyOf(item, mergeKey) === keyOf(other, mergeKey)) at++
    next++
  }
  if (at < kept.length && next >= wanted.length) {
    const text = `The order in patch list:\n${formatForError([...changes])}\n doesn't match $setElementOrder list:\n${formatForError([...wanted])}\n`
    throw new FieldManagerError({ code: 'BadPatch', message: text })
  }
}

/** The common type of all items. @throws FieldManagerError `BadPatch` when types differ, `Unprocessable` for lists of lists. */
export function elementKind(lists: readonly (readonly JsonValue[])[]): string {
  let kind: string | undefined
  for (const list of lists) {
    for (const item of list) {
      const own = kindOf(item)
      if (kind === undefined && own === 'array')
        throw new FieldManagerError({ code: 'Unprocessable', message: 'lists of lists are not supported' })
      if (kind === undefined && own === 'null')
        throw new FieldManagerError({ code: 'BadPatch', message: `a list begins with null: ${formatForError([...list])}` })
      if (kind !== undefined && kind !== own)
        throw new FieldManagerError({
          code: 'BadPatch',
          message: `list element types are not identical: ${formatForError(lists.map((each) => [...each]))}`,
        })
      kind = own
    }
  }
  if (kind === undefined) throw new FieldManagerError({ code: 'BadPatch', message: 'no elements in any of the given slices' })
  return kind
}

function kindOf(item: JsonValue): string {
  return typeof item === 'number'
    ? Number.isInteger(item)
      ? 'integer'
      : 'fraction'
    : typeof item === 'bigint'
      ? 'integer'
      : jsonKind(item)
}

function mapOf(item: JsonValue): JsonObject {
  if (!isJsonObject(item)) throw unexpectedType(goMap, item)
  return item
}

function keyOf(item: JsonValue, mergeKey: string): JsonValue {
  const map = mapOf(item)
  if (!Object.hasOwn(map, mergeKey)) throw noMergeKey(map, mergeKey)
  return map[mergeKey] as JsonValue
}
