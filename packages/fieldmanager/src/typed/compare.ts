import type { JsonValue } from '@krmkit/meta'
import { memberNames, runAtOnce, type Work } from '@krmkit/meta/work'
import { FieldManagerError } from '../field-manager-error.ts'
import type { PathElement } from '../fieldpath/element.ts'
import { emptySet, type FieldSet } from '../fieldpath/field-set.ts'
import { filterSet, type SetFilter } from '../fieldpath/set-filter.ts'
import { equalValues, equalValuesSteps, type OptionalJsonValue } from '../value/order.ts'
import { CompareWalk, type DeferredPart } from './compare-walk.ts'
import { haveSameKeys, reportedElement } from './list-item.ts'
import type { Form, ListAtom, MapAtom, TypeRef } from './types.ts'
import { asList, asMap, defaultForm, formOf, ownMember } from './types.ts'
import { validateScalar } from './validate.ts'
import { joinErrors } from './walk.ts'
import { insertWhole, wholeNode } from './whole-nodes.ts'

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
 * @throws FieldManagerError `InvalidObject` when an associative list holds items without keys, or when neither value fits.
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

/** Like `compareTyped`, as a generator that runs in slices. */
export function* compareTypedSteps(before: OptionalJsonValue, after: OptionalJsonValue, type: TypeRef): Work<Comparison> {
  if (before === after) return noDifference
  const deferred: DeferredPart[] = []
  const walk = new CompareWalk(deferred)
  compareNode(walk, type, before, after)
  // Deferred parts may defer further parts.
  for (const { path, steps } of deferred) {
    walk.path = path
    yield* steps
    yield true
  }
  return comparisonOf(walk)
}

function comparisonOf(walk: CompareWalk): Comparison {
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

function compareNode(walk: CompareWalk, type: TypeRef, before: OptionalJsonValue, after: OptionalJsonValue): void {
  if (before === undefined || after === undefined) {
    const whole = after ?? before
    if (walk.sliced && typeof whole === 'object' && whole !== null) {
      walk.defer(insertWhole(walk, type, whole, before === undefined ? walk.added : walk.removed))
      return
    }
    const node = wholeNode(walk, type, (after ?? before) as JsonValue)
    if (walk.path.length > 0)
      (before === undefined ? walk.added : walk.removed).insertNode(walk.resolvePath(), walk.path.length, node)
    else if (node.children !== undefined) (before === undefined ? walk.added : walk.removed).insertAll(node.children)
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

/** As `compareLeaves`, with pauses. */
function* compareLeavesSteps(walk: CompareWalk, before: JsonValue, after: JsonValue): Work {
  if (!(yield* equalValuesSteps(before, after))) walk.insert(walk.modified)
}

function compareLeaves(walk: CompareWalk, before: JsonValue, after: JsonValue): void {
  if (walk.sliced && typeof before === 'object' && typeof after === 'object') {
    walk.defer(compareLeavesSteps(walk, before, after))
    return
  }
  if (!equalValues(before, after)) walk.insert(walk.modified)
}

function compareMaps(walk: CompareWalk, map: MapAtom, before: JsonValue, after: JsonValue): void {
  if (map.atomic) {
    compareLeaves(walk, before, after)
    return
  }
  const left = asMap(before)
  const right = asMap(after)
  if (walk.sliced && left !== undefined && right !== undefined) {
    walk.defer(compareMembers(walk, map, left, right))
    return
  }
  // Iterates each map once, because lookups in large maps are costly.
  const own = right === undefined ? [] : Object.keys(right)
  let size = own.length
  let shared = 0
  for (const key in left) {
    size++
    const value = left[key]
    const other = right === undefined ? undefined : ownMember(right, key)
    if (other !== undefined) shared++
    if (value !== other) compareMember(walk, map, key, value, other)
  }
  if (size === 0) compareLeaves(walk, before, after)
  if (right === undefined || own.length === shared) return
  for (const key of own) {
    const value = right[key]
    if (value === undefined || (left !== undefined && ownMember(left, key) !== undefined)) continue
    compareMember(walk, map, key, undefined, value)
  }
}

type Members = { readonly [key: string]: JsonValue }

/** Members between two yields. */
const stepSize = 64

function* compareMembers(walk: CompareWalk, map: MapAtom, left: Members, right: Members): Work {
  const own = memberNames(left)
  yield true
  const others = memberNames(right)
  yield true
  for (const key of own) {
    const value = left[key]
    const other = ownMember(right, key)
    if (value !== other) compareMember(walk, map, key, value, other)
    if (++walk.compared % stepSize === 0) yield
  }
  if (own.length + others.length === 0) compareLeaves(walk, left, right)
  for (const key of others) {
    if (ownMember(left, key) === undefined) compareMember(walk, map, key, undefined, right[key])
    if (++walk.compared % stepSize === 0) yield
  }
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
  if (list.atomic || ((left === undefined || left.length === 0) && (right === undefined || right.length === 0))) {
    compareLeaves(walk, before, after)
    return
  }
  if (left === undefined || right === undefined || !haveSameKeys(list, left, right)) {
    const steps = compareItems(walk, list, left ?? [], right ?? [])
    if (walk.sliced) walk.defer(steps)
    else runAtOnce(steps)
  } else if (walk.sliced) walk.defer(compareAligned(walk, list, left, right))
  else for (let i = 0; i < left.length; i++) compareItem(walk, list, left[i] as JsonValue, right[i])
}

function* compareAligned(walk: CompareWalk, list: ListAtom, left: readonly JsonValue[], right: readonly JsonValue[]): Work {
  for (let i = 0; i < left.length; i++) {
    compareItem(walk, list, left[i] as JsonValue, right[i])
    if (++walk.compared % stepSize === 0) yield
  }
}

function compareItem(walk: CompareWalk, list: ListAtom, before: JsonValue, after: OptionalJsonValue): void {
  if (before === after) return
  walk.enter({ list, item: before })
  compareNode(walk, list.items, before, after)
  walk.path.pop()
}

interface ItemPair {
  readonly before: JsonValue[]
  readonly after: JsonValue[]
}

function* compareItems(walk: CompareWalk, list: ListAtom, left: readonly JsonValue[], right: readonly JsonValue[]): Work {
  const pairs = new Map<PathElement, ItemPair>()
  yield* collectItems(walk, list, left, pairs, 'before')
  yield* collectItems(walk, list, right, pairs, 'after')
  for (const [element, pair] of pairs) {
    walk.enter(element)
    comparePair(walk, list, pair)
    walk.path.pop()
    if (++walk.compared % stepSize === 0) yield
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
    const item = items[i] as JsonValue
    const element = reportedElement(walk, list, items, i)
    if (element === undefined) continue
    let pair = pairs.get(element)
    if (pair === undefined) {
      pair = { before: [], after: [] }
      pairs.set(element, pair)
    }
    pair[side].push(item)
    if (++walk.compared % stepSize === 0) yield
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
