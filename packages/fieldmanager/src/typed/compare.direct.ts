// Derived from compare.ts by `npm run direct`: do not edit.

import { isEmptyObject, memberNames } from '@krmkit/base/work'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { PathElement } from '../fieldpath/element.ts'
import { equalValues } from '../value/equal.direct.ts'
import type { OptionalJsonValue } from '../value/order.ts'
import { type Comparison, comparisonOf, type ItemPair, noDifference } from './compare.ts'
import { CompareWalk } from './compare-walk.ts'
import { haveSameKeys, reportedElement } from './list-item.ts'
import { asList, asMap, defaultForm, type Form, formOf, type ListAtom, type MapAtom, ownMember, type TypeRef } from './types.ts'
import { validateScalar } from './validate.ts'
import { wholeNode } from './whole-nodes.direct.ts'

/**
 * Compares two values; `undefined` stands for an absent value.
 *
 * @throws FieldManagerError `InvalidObject` when an associative list contains items without keys, or when neither value matches the type.
 * @example
 * ```ts
 * import { compareTyped, deducedType } from '@krmkit/fieldmanager/typed'
 *
 * compareTyped({ replicas: 1 }, { replicas: 2, paused: true }, deducedType).modified.toString() // '.replicas'
 * ```
 */
export function compareTyped(before: OptionalJsonValue, after: OptionalJsonValue, type: TypeRef): Comparison {
  if (before === after) return noDifference
  const walk = new CompareWalk()
  compareNode(walk, type, before, after)
  return comparisonOf(walk)
}

function compareNode(walk: CompareWalk, type: TypeRef, before: OptionalJsonValue, after: OptionalJsonValue): void {
  if (before === undefined || after === undefined) {
    const node = wholeNode(walk, type, (after ?? before) as JsonValue)
    const into = before === undefined ? walk.added : walk.removed
    if (walk.path.length > 0) into.insertNode(walk.resolvePath(), walk.path.length, node)
    else if (node.children !== undefined) into.insertAll(node.children)
    return
  }
  const { atom } = type
  const left = formOf(atom, before)
  const right = formOf(atom, after)
  if (left !== right) compareAs(walk, type, left, before, after)
  compareAs(walk, type, right, before, after)
}

function compareAs(walk: CompareWalk, type: TypeRef, form: Form | undefined, before: JsonValue, after: JsonValue): void {
  const { atom } = type
  const chosen = form ?? defaultForm(atom)
  if (chosen === 'map' && atom.map !== undefined) compareMaps(walk, atom.map, before, after)
  else if (chosen === 'list' && atom.list !== undefined) compareLists(walk, atom.list, before, after)
  else if (atom.scalar === undefined) walk.fail(`schema error: invalid atom: ${type.name ?? 'inlined'}`)
  else {
    const problem = validateScalar(atom.scalar, before)
    const other = problem === undefined ? undefined : validateScalar(atom.scalar, after)
    if (problem === undefined || other === undefined) compareLeaves(walk, before, after)
    else {
      walk.fail(`lhs: ${problem}`)
      walk.fail(`rhs: ${other}`)
    }
  }
}

function compareLeaves(walk: CompareWalk, before: JsonValue, after: JsonValue): void {
  if (!equalValues(before, after)) walk.insert(walk.modified)
}

function compareMaps(walk: CompareWalk, map: MapAtom, before: JsonValue, after: JsonValue): void {
  if (map.atomic) {
    compareLeaves(walk, before, after)
    return
  }
  const left = asMap(before)
  const right = asMap(after)
  // Lists the members of each map once, because lookups in large maps are costly.
  const others = right === undefined ? [] : memberNames(right)

  const shared = left === undefined ? 0 : compareMembers(walk, map, left, right)
  if (others.length === 0 && (left === undefined || isEmptyObject(left))) compareLeaves(walk, before, after)
  if (right === undefined || others.length === shared) return
  for (const key of others) {
    const value = right[key]
    if (value === undefined || (left !== undefined && ownMember(left, key) !== undefined)) continue
    compareMember(walk, map, key, undefined, value)
  }
}

/** Compares the members of the first map. @returns the number of members that both maps have */
function compareMembers(walk: CompareWalk, map: MapAtom, left: JsonObject, right: JsonObject | undefined): number {
  let shared = 0

  for (const key in left) {
    const value = left[key]
    const other = right === undefined ? undefined : ownMember(right, key)
    if (other !== undefined) shared++
    if (value !== other) compareMember(walk, map, key, value, other)
  }
  return shared
}

function compareMember(walk: CompareWalk, map: MapAtom, key: string, before: OptionalJsonValue, after: OptionalJsonValue): void {
  const field = map.fields.get(key)
  const type = field?.type ?? map.items
  if (type === undefined) return
  walk.enter(field === undefined ? `f:${key}` : field.element)
  compareNode(walk, type, before, after)
  walk.path.pop()
}

function compareLists(walk: CompareWalk, list: ListAtom, before: JsonValue, after: JsonValue): void {
  const left = asList(before)
  const right = asList(after)
  if (list.atomic || ((left === undefined || left.length === 0) && (right === undefined || right.length === 0)))
    compareLeaves(walk, before, after)
  else if (left === undefined || right === undefined || !haveSameKeys(list, left, right))
    compareItems(walk, list, left ?? [], right ?? [])
  else compareAligned(walk, list, left, right)
}

/** Compares lists with the same keys in the same order. */
function compareAligned(walk: CompareWalk, list: ListAtom, left: readonly JsonValue[], right: readonly JsonValue[]): void {
  for (let i = 0; i < left.length; i++) {
    const before = left[i] as JsonValue
    if (before === right[i]) continue
    walk.enter({ list, item: before })
    compareNode(walk, list.items, before, right[i])
    walk.path.pop()
  }
}

function compareItems(walk: CompareWalk, list: ListAtom, left: readonly JsonValue[], right: readonly JsonValue[]): void {
  const pairs = new Map<PathElement, ItemPair>()
  collectItems(walk, list, left, pairs, 'before')
  collectItems(walk, list, right, pairs, 'after')
  for (const [element, pair] of pairs) {
    walk.enter(element)
    comparePair(walk, list, pair)
    walk.path.pop()
  }
}

function collectItems(
  walk: CompareWalk,
  list: ListAtom,
  items: readonly JsonValue[],
  pairs: Map<PathElement, ItemPair>,
  side: 'before' | 'after',
): void {
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as JsonValue
    const element = reportedElement(walk, list, items, i)
    if (element === undefined) continue
    let pair = pairs.get(element)
    if (pair === undefined) {
      pair = { before: [], after: [] }
      pairs.set(element, pair)
    }
    pair[side].push(item)
  }
}

/**
 * Compares the items of one key. Duplicates are compared as a whole; adding or removing duplicates counts as a change of the item
 * itself.
 */
function comparePair(walk: CompareWalk, list: ListAtom, { before, after }: ItemPair): void {
  if (before.length <= 1 && after.length <= 1) {
    if (before[0] !== after[0]) compareNode(walk, list.items, before[0], after[0])
  } else if (before.length > 1 && after.length > 1) {
    if (!equalValues(before, after)) walk.insert(walk.modified)
  } else if (before.length > 1) {
    if (after.length > 0) compareNode(walk, list.items, undefined, after[0])
    walk.insert(walk.removed)
  } else {
    if (before.length > 0) compareNode(walk, list.items, before[0], undefined)
    walk.insert(walk.added)
  }
}
