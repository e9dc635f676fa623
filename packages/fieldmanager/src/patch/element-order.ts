import type { Work } from '@krmkit/base/work'
import { isJsonObject, type JsonValue } from '@krmkit/meta'
import { stepSize } from '../value/keys.ts'
import { goMap } from '../value/type-names.ts'
import { noMergeKey, patchDirective, unexpectedType } from './directives.ts'
import { stableOrder } from './stable-sort.ts'

/** The items of a merged list, split into those that the patch contains and the rest. */
export interface Parts {
  readonly patched: JsonValue[]
  readonly others: JsonValue[]
}

/** @throws FieldManagerError `BadPatch` for items without the merge key, if there is one. */
export function* partition(merged: readonly JsonValue[], wanted: readonly JsonValue[], mergeKey: string): Work<Parts> {
  const parts: Parts = { patched: [], others: [] }
  const isWanted = mergeKey === '' ? yield* setOf(wanted) : keyedSetOf(wanted, mergeKey)
  yield true
  for (let i = 0; i < merged.length; i++) {
    const item = merged[i] as JsonValue
    ;(isWanted(item) ? parts.patched : parts.others).push(item)
    if (i % stepSize === stepSize - 1) yield
  }
  return parts
}

type Membership = (item: JsonValue) => boolean

function* setOf(items: readonly JsonValue[]): Work<Membership> {
  const set = new Set<JsonValue>()
  for (let i = 0; i < items.length; i++) {
    set.add(items[i] as JsonValue)
    if (i % stepSize === stepSize - 1) yield
  }
  return (item) => set.has(item)
}

/** @returns a function that throws FieldManagerError `BadPatch` for items that are not maps or lack the key. */
function keyedSetOf(items: readonly JsonValue[], mergeKey: string): Membership {
  const position = new Map<JsonValue, number>()
  let end = 0
  for (; end < items.length; end++) {
    const item = items[end] as JsonValue
    if (!isJsonObject(item)) break
    if (Object.hasOwn(item, mergeKey) && !position.has(item[mergeKey] as JsonValue))
      position.set(item[mergeKey] as JsonValue, end)
  }
  return (item) => {
    if (!isJsonObject(item)) throw unexpectedType(goMap, item)
    if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey)
    if (position.has(item[mergeKey] as JsonValue)) return true
    if (end < items.length) throw unexpectedType(goMap, items[end] as JsonValue)
    return false
  }
}

/**
 * Orders a merged list: items of the patch in the order of the patch, and other items in their previous order, interleaved by previous
 * positions.
 *
 * @param maps Whether items are identified by merge key rather than by value.
 */
export function* orderElements(
  { patched, others }: Parts,
  { wanted, before, mergeKey, maps }: { wanted: JsonValue[]; before: JsonValue[]; mergeKey: string; maps: boolean },
): Work<JsonValue[]> {
  const identity = maps ? (item: JsonValue) => identityOf(item, mergeKey) : (item: JsonValue) => item
  yield true
  const right = yield* sorted(patched, wanted, { mergeKey, maps, identity })
  yield true
  const left = yield* sorted(others, before, { mergeKey, maps, identity })
  yield true
  const position = yield* positions(before, identity)
  yield true
  const out: JsonValue[] = []
  let i = 0
  let j = 0
  while (i < left.length || j < right.length) {
    if (i < left.length && (j >= right.length || isBefore(left[i] as JsonValue, right[j] as JsonValue))) {
      out.push(left[i++] as JsonValue)
    } else out.push(right[j++] as JsonValue)
  }
  return out

  function isBefore(a: JsonValue, b: JsonValue): boolean {
    const l = position.get(identity(a))
    const r = position.get(identity(b))
    return l !== undefined && r !== undefined && l < r
  }
}

/** The value of the merge key; `undefined` for other types and maps without the key. */
export function identityOf(item: JsonValue, mergeKey: string): JsonValue | undefined {
  return isJsonObject(item) && Object.hasOwn(item, mergeKey) ? item[mergeKey] : undefined
}

type Identity = (item: JsonValue) => JsonValue | undefined

function* positions(items: readonly JsonValue[], identity: Identity): Work<ReadonlyMap<JsonValue | undefined, number>> {
  const out = new Map<JsonValue | undefined, number>()
  for (let i = 0; i < items.length; i++) {
    const key = identity(items[i] as JsonValue)
    if (!out.has(key)) out.set(key, i)
    if (i % stepSize === stepSize - 1) yield
  }
  return out
}

function* sorted(
  items: readonly JsonValue[],
  order: readonly JsonValue[],
  { mergeKey, maps, identity }: { mergeKey: string; maps: boolean; identity: Identity },
): Work<JsonValue[]> {
  const deleted: JsonValue[] = []
  const kept: JsonValue[] = []
  if (maps) requireKeys(mergeKey, items, order)
  for (const item of items) (maps && isJsonObject(item) && item[patchDirective] === 'delete' ? deleted : kept).push(item)
  yield true
  const position = yield* positions(order, identity)
  yield true
  const at = kept.map((item) => position.get(identity(item)))
  yield true
  const ordered = yield* sortByPosition(kept, at)
  return deleted.length === 0 ? ordered : [...ordered, ...deleted]
}

/**
 * Sorts items by position. As on kube-apiserver, items without a position sort before all others, so a list of only such items is reversed.
 */
function* sortByPosition(items: JsonValue[], at: (number | undefined)[]): Work<JsonValue[]> {
  if (at.every((position, i) => position !== undefined && (i === 0 || position >= (at[i - 1] ?? 0)))) return items
  if (at.every((position) => position !== undefined)) {
    const order = items.map((_, i) => i).sort((a, b) => (at[a] as number) - (at[b] as number))
    return order.map((i) => items[i] as JsonValue)
  }
  const order = yield* stableOrder(Int32Array.from(at, (position) => position ?? -1))
  return Array.from(order, (i) => items[i] as JsonValue)
}

/** @throws FieldManagerError `BadPatch` for items that are not maps or lack the merge key. */
export function requireKeys(mergeKey: string, ...lists: readonly (readonly JsonValue[])[]): void {
  for (const list of lists) {
    for (const item of list) {
      if (!isJsonObject(item)) throw unexpectedType(goMap, item)
      if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey)
    }
  }
}
