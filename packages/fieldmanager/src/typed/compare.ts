import { isEmptyObject, memberNames, type Work } from '@krmkit/base/work'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import type { PathElement } from '../fieldpath/element.ts'
import { emptySet, type FieldSet } from '../fieldpath/field-set.ts'
import { filterSet, type SetFilter } from '../fieldpath/set-filter.ts'
import { equalValues } from '../value/equal.ts'
import type { OptionalJsonValue } from '../value/order.ts'
import { CompareWalk } from './compare-walk.ts'
import { haveSameKeys, reportedElement } from './list-item.ts'
import { asList, asMap, defaultForm, type Form, formOf, type ListAtom, type MapAtom, ownMember, type TypeRef } from './types.ts'
import { validateScalar } from './validate.ts'
import { joinErrors } from './walk.ts'
import { wholeNode } from './whole-nodes.ts'

/** The differences between two values of one type. */
export interface Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

export const noDifference: Comparison = { added: emptySet, modified: emptySet, removed: emptySet }

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
export function* compareTyped(before: OptionalJsonValue, after: OptionalJsonValue, type: TypeRef): Work<Comparison> {
  if (before === after) return noDifference
  const walk = new CompareWalk()
  yield* compareNode(walk, type, before, after)
  return comparisonOf(walk)
}

export function comparisonOf(walk: CompareWalk): Comparison {
  if (walk.errors.length > 0)
    throw new FieldManagerError({ code: 'InvalidObject', message: joinErrors(walk.errors), errors: walk.errors })
  return { added: walk.added.build(), modified: walk.modified.build(), removed: walk.removed.build() }
}

export function filterComparison(comparison: Comparison, filter: SetFilter | undefined): Comparison {
  if (filter === undefined) return comparison
  return {
    added: filterSet(comparison.added, filter),
    modified: filterSet(comparison.modified, filter),
    removed: filterSet(comparison.removed, filter),
  }
}

/** Whether there are no differences. */
export function isSame(comparison: Comparison): boolean {
  return comparison.added.empty && comparison.modified.empty && comparison.removed.empty
}

/**
 * Formats the differences for people; omits empty sections.
 *
 * @example
 * ```ts
 * import { compareTyped, deducedType, formatComparison } from '@krmkit/fieldmanager/typed'
 *
 * const comparison = compareTyped({ replicas: 1 }, { replicas: 2, paused: true }, deducedType)
 * formatComparison(comparison) // '- Modified Fields:\n.replicas\n- Added Fields:\n.paused\n'
 * ```
 */
export function formatComparison(comparison: Comparison): string {
  let text = ''
  if (!comparison.modified.empty) text += `- Modified Fields:\n${comparison.modified}\n`
  if (!comparison.added.empty) text += `- Added Fields:\n${comparison.added}\n`
  if (!comparison.removed.empty) text += `- Removed Fields:\n${comparison.removed}\n`
  return text
}

/** Number of members and items visited between two yields. */
const stepSize = 64

function* compareNode(walk: CompareWalk, type: TypeRef, before: OptionalJsonValue, after: OptionalJsonValue): Work {
  if (before === undefined || after === undefined) {
    const node = yield* wholeNode(walk, type, (after ?? before) as JsonValue)
    const into = before === undefined ? walk.added : walk.removed
    if (walk.path.length > 0) into.insertNode(walk.resolvePath(), walk.path.length, node)
    else if (node.children !== undefined) into.insertAll(node.children)
    return
  }
  const { atom } = type
  const left = formOf(atom, before)
  const right = formOf(atom, after)
  if (left !== right) yield* compareAs(walk, type, left, before, after)
  yield* compareAs(walk, type, right, before, after)
}

function* compareAs(walk: CompareWalk, type: TypeRef, form: Form | undefined, before: JsonValue, after: JsonValue): Work {
  const { atom } = type
  const chosen = form ?? defaultForm(atom)
  if (chosen === 'map' && atom.map !== undefined) yield* compareMaps(walk, atom.map, before, after)
  else if (chosen === 'list' && atom.list !== undefined) yield* compareLists(walk, atom.list, before, after)
  else if (atom.scalar === undefined) walk.fail(`schema error: invalid atom: ${type.name ?? 'inlined'}`)
  else {
    const problem = validateScalar(atom.scalar, before)
    const other = problem === undefined ? undefined : validateScalar(atom.scalar, after)
    if (problem === undefined || other === undefined) yield* compareLeaves(walk, before, after)
    else {
      walk.fail(`lhs: ${problem}`)
      walk.fail(`rhs: ${other}`)
    }
  }
}

function* compareLeaves(walk: CompareWalk, before: JsonValue, after: JsonValue): Work {
  if (!(yield* equalValues(before, after))) walk.insert(walk.modified)
}

function* compareMaps(walk: CompareWalk, map: MapAtom, before: JsonValue, after: JsonValue): Work {
  if (map.atomic) {
    yield* compareLeaves(walk, before, after)
    return
  }
  const left = asMap(before)
  const right = asMap(after)
  // Lists the members of each map once, because lookups in large maps are costly.
  const others = right === undefined ? [] : memberNames(right)
  if (others.length > stepSize) yield true
  const shared = left === undefined ? 0 : yield* compareMembers(walk, map, left, right)
  if (others.length === 0 && (left === undefined || isEmptyObject(left))) yield* compareLeaves(walk, before, after)
  if (right === undefined || others.length === shared) return
  for (const key of others) {
    if (++walk.visited % stepSize === 0) yield
    const value = right[key]
    if (value === undefined || (left !== undefined && ownMember(left, key) !== undefined)) continue
    yield* compareMember(walk, map, key, undefined, value)
  }
}

/** Compares the members of the first map. @returns the number of members that both maps have */
function* compareMembers(walk: CompareWalk, map: MapAtom, left: JsonObject, right: JsonObject | undefined): Work<number> {
  let shared = 0
  const keys = memberNames(left)
  if (keys.length > stepSize) yield true
  for (const key of keys) {
    if (++walk.visited % stepSize === 0) yield
    const value = left[key]
    const other = right === undefined ? undefined : ownMember(right, key)
    if (other !== undefined) shared++
    if (value !== other) yield* compareMember(walk, map, key, value, other)
  }
  return shared
}

function* compareMember(walk: CompareWalk, map: MapAtom, key: string, before: OptionalJsonValue, after: OptionalJsonValue): Work {
  const field = map.fields.get(key)
  const type = field?.type ?? map.items
  if (type === undefined) return
  walk.enter(field === undefined ? `f:${key}` : field.element)
  yield* compareNode(walk, type, before, after)
  walk.path.pop()
}

function* compareLists(walk: CompareWalk, list: ListAtom, before: JsonValue, after: JsonValue): Work {
  const left = asList(before)
  const right = asList(after)
  if (list.atomic || ((left === undefined || left.length === 0) && (right === undefined || right.length === 0)))
    yield* compareLeaves(walk, before, after)
  else if (left === undefined || right === undefined || !haveSameKeys(list, left, right))
    yield* compareItems(walk, list, left ?? [], right ?? [])
  else yield* compareAligned(walk, list, left, right)
}

/** Compares lists with the same keys in the same order. */
function* compareAligned(walk: CompareWalk, list: ListAtom, left: readonly JsonValue[], right: readonly JsonValue[]): Work {
  for (let i = 0; i < left.length; i++) {
    if (++walk.visited % stepSize === 0) yield
    const before = left[i] as JsonValue
    if (before === right[i]) continue
    walk.enter({ list, item: before })
    yield* compareNode(walk, list.items, before, right[i])
    walk.path.pop()
  }
}

export interface ItemPair {
  readonly before: JsonValue[]
  readonly after: JsonValue[]
}

function* compareItems(walk: CompareWalk, list: ListAtom, left: readonly JsonValue[], right: readonly JsonValue[]): Work {
  const pairs = new Map<PathElement, ItemPair>()
  yield* collectItems(walk, list, left, pairs, 'before')
  yield* collectItems(walk, list, right, pairs, 'after')
  for (const [element, pair] of pairs) {
    if (++walk.visited % stepSize === 0) yield
    walk.enter(element)
    yield* comparePair(walk, list, pair)
    walk.path.pop()
  }
}

function* collectItems(
  walk: CompareWalk,
  list: ListAtom,
  items: readonly JsonValue[],
  pairs: Map<PathElement, ItemPair>,
  side: 'before' | 'after',
): Work {
  for (let i = 0; i < items.length; i++) {
    if (++walk.visited % stepSize === 0) yield
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
function* comparePair(walk: CompareWalk, list: ListAtom, { before, after }: ItemPair): Work {
  if (before.length <= 1 && after.length <= 1) {
    if (before[0] !== after[0]) yield* compareNode(walk, list.items, before[0], after[0])
  } else if (before.length > 1 && after.length > 1) {
    if (!(yield* equalValues(before, after))) walk.insert(walk.modified)
  } else if (before.length > 1) {
    if (after.length > 0) yield* compareNode(walk, list.items, undefined, after[0])
    walk.insert(walk.removed)
  } else {
    if (before.length > 0) yield* compareNode(walk, list.items, before[0], undefined)
    walk.insert(walk.added)
  }
}
