import type { JsonValue } from '@krmkit/meta'
import { isMap } from '../value/order.ts'

/**
 * Order of merged lists: items of the patch in the order that it says, items that only the object has in the order they had, and
 * the two woven together by the order that the object had.
 */
export function orderElements(
  items: readonly JsonValue[],
  wanted: readonly JsonValue[],
  before: readonly JsonValue[],
  mergeKey: string,
): JsonValue[] {
  const wantedAt = positions(wanted, mergeKey)
  const beforeAt = positions(before, mergeKey)
  const identity = (item: JsonValue): JsonValue | undefined => identityOf(item, mergeKey)
  const patchItems = byPosition(
    items.filter((item) => wantedAt.has(identity(item))),
    wantedAt,
    identity,
  )
  const others = byPosition(
    items.filter((item) => !wantedAt.has(identity(item))),
    beforeAt,
    identity,
  )
  const out: JsonValue[] = []
  let i = 0
  let j = 0
  while (i < others.length || j < patchItems.length) {
    if (j >= patchItems.length || (i < others.length && isBefore(others[i], patchItems[j]))) out.push(others[i++] as JsonValue)
    else out.push(patchItems[j++] as JsonValue)
  }
  return out

  function isBefore(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
    const l = beforeAt.get(identity(left as JsonValue))
    const r = beforeAt.get(identity(right as JsonValue))
    return l !== undefined && r !== undefined && l < r
  }
}

/** The value of the merge key, or the item itself in lists of scalars. */
export function identityOf(item: JsonValue, mergeKey: string): JsonValue | undefined {
  if (mergeKey === '') return item
  return isMap(item) && Object.hasOwn(item, mergeKey) ? item[mergeKey] : undefined
}

function positions(items: readonly JsonValue[], mergeKey: string): Map<JsonValue | undefined, number> {
  const out = new Map<JsonValue | undefined, number>()
  items.forEach((item, index) => {
    const identity = identityOf(item, mergeKey)
    if (!out.has(identity)) out.set(identity, index)
  })
  return out
}

function byPosition(
  items: JsonValue[],
  positionOf: ReadonlyMap<JsonValue | undefined, number>,
  identity: (item: JsonValue) => JsonValue | undefined,
): JsonValue[] {
  return items.sort((a, b) => {
    const left = positionOf.get(identity(a))
    const right = positionOf.get(identity(b))
    return left === undefined || right === undefined ? 0 : left - right
  })
}
