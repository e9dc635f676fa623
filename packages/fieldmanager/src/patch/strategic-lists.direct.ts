// Derived from strategic-lists.ts by `npm run direct`: do not edit.
import { runAtOnce } from '@krmkit/base/work'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import { goList } from '../value/type-names.ts'
import { noMergeKey, unexpectedType } from './directives.ts'
import { orderElements, partition } from './element-order.ts'
import type { PatchMeta } from './patch-meta.ts'
import { elementKind, executeItemDirectives } from './strategic-lists.ts'

/** List merging of strategic merge patches: by merge key or by value where the field requires it, replacement elsewhere. */
export interface ListMerge {
  readonly meta: PatchMeta
  /** Merges two items with the same key. */
  readonly join: (item: JsonObject, change: JsonObject) => JsonObject
  /** Whether the change lists items to delete. */
  readonly deletes: boolean
}

/** @throws FieldManagerError `BadPatch`, `Unprocessable` */
export function mergeLists(own: JsonValue, change: JsonValue, merge: ListMerge): JsonValue[] {
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

      return own.filter((item) => !gone.has(item))
    }
    const merged = distinct(own, change)

    const parts = runAtOnce(partition(merged, change, mergeKey))

    return runAtOnce(orderElements(parts, { wanted: change, before: own, mergeKey, maps }))
  }
  if (mergeKey === '')
    throw new FieldManagerError({ code: 'BadPatch', message: `cannot merge lists without merge key for ${meta.type.kind}` })

  const { items, changes } = executeItemDirectives(own as JsonObject[], change as JsonObject[], mergeKey)

  const merged = mergeItems(items, changes, merge)

  const parts = runAtOnce(partition(merged, changes, mergeKey))

  return runAtOnce(orderElements(parts, { wanted: changes, before: items, mergeKey, maps }))
}

/** The distinct items of both lists. */
function distinct(...lists: readonly JsonValue[][]): JsonValue[] {
  const out = new Set<JsonValue>()
  for (const list of lists) {
    for (let i = 0; i < list.length; i++) {
      out.add(list[i] as JsonValue)
    }
  }
  return [...out]
}

/** Merges changes with the same key one after another; new items are added unchanged, including nulls. */
function mergeItems(
  items: readonly JsonObject[],
  changes: readonly JsonObject[],
  { meta: { mergeKey }, join }: ListMerge,
): JsonObject[] {
  const out = [...items]
  const at = new Map<JsonValue, number>()
  items.forEach((item, index) => {
    const identity = item[mergeKey]
    if (Object.hasOwn(item, mergeKey) && !at.has(identity as JsonValue)) at.set(identity as JsonValue, index)
  })

  for (const change of changes) {
    if (!Object.hasOwn(change, mergeKey)) throw noMergeKey(change, mergeKey)
    const identity = change[mergeKey] as JsonValue
    const index = at.get(identity)
    if (index === undefined) {
      at.set(identity, out.length)
      out.push(change)
      continue
    }
    out[index] = join(out[index] as JsonObject, change)
  }
  return out
}
