import type { JsonValue } from '@krmkit/meta'
import { setMember } from '@krmkit/meta'
import { memberNames, rememberMemberNames, type Work } from '@krmkit/meta/work'
import type { PathElement } from '../fieldpath/element.ts'
import { formatElement } from '../fieldpath/format-path.ts'
import { equalValues, isEmptyMap, type OptionalJsonValue } from '../value/order.ts'
import { haveSameKeys, itemElement, ListItemError, reportedElement } from './list-item.ts'
import type { ListAtom, MapAtom, TypeRef } from './types.ts'
import { asList, asMap, copyMembers, defaultForm, formOf, ownMember } from './types.ts'
import { validateScalar } from './validate.ts'
import { Walk } from './walk.ts'

export interface MergeOptions {
  /** The patch is known to fit the type, so members missing in the base are taken over without a check. */
  readonly checked?: boolean
}

class MergeWalk extends Walk {
  readonly checked: boolean
  /** Receives the work of filling large maps; absent, they are filled at once. */
  readonly deferred: Work[] | undefined

  constructor(checked: boolean, deferred?: Work[]) {
    super()
    this.checked = checked
    this.deferred = deferred
  }
}

/**
 * Merges `patch` into `base`: the patch replaces leaves and atomic parts; granular maps and associative lists are merged member
 * by member. Items present in both keep the order of the patch.
 *
 * Unchanged parts are shared with `base`, up to `base` itself; treat the result as readonly.
 *
 * @throws FieldManagerError `InvalidObject` when an associative list cannot be merged.
 * @example
 * ```ts
 * import { deducedType, mergeTyped } from '@krmkit/fieldmanager/typed'
 *
 * const live = { data: { color: 'blue', size: 'L' } }
 * mergeTyped(live, { data: { color: 'red' } }, deducedType) // { data: { color: 'red', size: 'L' } }
 * ```
 */
export function mergeTyped(
  base: OptionalJsonValue,
  patch: OptionalJsonValue,
  type: TypeRef,
  options: MergeOptions = {},
): JsonValue | undefined {
  const walk = new MergeWalk(options.checked === true)
  const out = mergeNode(walk, type, base, patch)
  // With `checked`, paths are placeholders; merge again to report errors with exact paths.
  if (walk.checked && walk.errors.length > 0) return mergeTyped(base, patch, type)
  walk.check()
  return out
}

/** Like `mergeTyped` with a checked patch, as a generator: large maps of scalars are merged in slices. */
export function* mergeCheckedSteps(
  base: OptionalJsonValue,
  patch: OptionalJsonValue,
  type: TypeRef,
): Work<JsonValue | undefined> {
  const deferred: Work[] = []
  const walk = new MergeWalk(true, deferred)
  const out = mergeNode(walk, type, base, patch)
  if (walk.errors.length > 0) return mergeTyped(base, patch, type)
  for (const steps of deferred) {
    yield true
    yield* steps
  }
  return out
}

function mergeNode(walk: MergeWalk, type: TypeRef, base: OptionalJsonValue, patch: OptionalJsonValue): OptionalJsonValue {
  if (patch === undefined) return base
  if (base === undefined && walk.checked) return patch
  const { atom } = type
  const form = formOf(atom, patch) ?? defaultForm(atom)
  if (form === 'map' && atom.map !== undefined) return mergeMaps(walk, atom.map, base, patch)
  if (form === 'list' && atom.list !== undefined) return mergeLists(walk, atom.list, base, patch)
  if (atom.scalar === undefined) walk.fail(`schema error: invalid atom: ${type.name ?? 'inlined'}`)
  else {
    const problem = validateScalar(atom.scalar, base)
    const other = problem === undefined ? undefined : validateScalar(atom.scalar, patch)
    if (problem !== undefined && other !== undefined) {
      walk.fail(`lhs: ${problem}`)
      walk.fail(`rhs: ${other}`)
    }
  }
  return takePatch(base, patch)
}

/** Returns `base` when both are equal, so that equal values stay identical. */
function takePatch(base: OptionalJsonValue, patch: JsonValue): OptionalJsonValue {
  return equalValues(base, patch) ? base : patch
}

function mergeMaps(walk: MergeWalk, map: MapAtom, base: OptionalJsonValue, patch: JsonValue): OptionalJsonValue {
  const left = asMap(base)
  const right = asMap(patch)
  if (map.atomic) return takePatch(base, patch)
  // Fast path for maps of scalars, such as labels and data: members of a checked patch need no type check.
  const scalars = walk.checked && map.fields.size === 0 && map.items?.atom.single === 'scalar'
  if (scalars && walk.deferred !== undefined && left !== undefined && right !== undefined) {
    const keys = memberNames(right)
    if (keys.length > manyMembers) return mergeLater(walk.deferred, left, right, keys)
  }
  let out: { [key: string]: JsonValue } | undefined
  let empty = true
  let fewer = false
  for (const key in right) {
    empty = false
    const value = right[key]
    if (value === undefined) continue
    // Patch values are never inherited members, so identity suffices.
    if (walk.checked && left !== undefined && left[key] === value) continue
    const own = left === undefined ? undefined : ownMember(left, key)
    const merged = scalars ? takePatch(own, value) : mergeMember(walk, map, key, own, value)
    if (merged === own) continue
    out ??= copyMembers(left)
    if (merged === undefined) {
      delete out[key]
      fewer = true
    } else setMember(out, key, merged)
  }
  // The emptiness check is costly for large maps, so it comes last.
  if (out === undefined) return empty && (left === undefined || isEmptyMap(left)) ? takePatch(base, patch) : left
  return fewer && isEmptyMap(out) ? undefined : out
}

/** Size above which a map of scalars is merged in slices. */
const manyMembers = 1000

/** @returns the base when the patch changes nothing, or else a map that is filled later. */
function mergeLater(
  deferred: Work[],
  base: { [key: string]: JsonValue },
  patch: { [key: string]: JsonValue },
  keys: readonly string[],
): JsonValue {
  if (keys.every((key) => patch[key] === undefined || equalValues(ownMember(base, key), patch[key]))) return base
  const out = Object.create(null) as { [key: string]: JsonValue }
  deferred.push(fillSteps(out, { base, patch, keys }))
  return out
}

function* fillSteps(
  out: { [key: string]: JsonValue },
  {
    base,
    patch,
    keys,
  }: {
    readonly base: { readonly [key: string]: JsonValue }
    readonly patch: { readonly [key: string]: JsonValue }
    readonly keys: readonly string[]
  },
): Work {
  const own = memberNames(base)
  const names = [...own]
  yield true
  for (let i = 0; i < own.length; i++) {
    const key = own[i] as string
    setMember(out, key, base[key] as JsonValue)
    if (i % membersPerStep === membersPerStep - 1) yield
  }
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const value = patch[key]
    if (value !== undefined) {
      if (!Object.hasOwn(base, key)) names.push(key)
      setMember(out, key, takePatch(ownMember(base, key), value) as JsonValue)
    }
    if (i % membersPerStep === membersPerStep - 1) yield
  }
  // V8 keeps an object without prototype as a table, which is faster to fill.
  Object.setPrototypeOf(out, Object.prototype)
  rememberMemberNames(out, names)
}

const membersPerStep = 128

function mergeMember(walk: MergeWalk, map: MapAtom, key: string, base: OptionalJsonValue, patch: JsonValue): OptionalJsonValue {
  const field = map.fields.get(key)
  const type = field?.type ?? map.items
  if (type === undefined) {
    walk.fail(`${key}: field not declared in schema`)
    return base
  }
  walk.enter(field === undefined ? `f:${key}` : field.element)
  const merged = mergeNode(walk, type, base, patch)
  walk.leave()
  return merged
}

function mergeLists(walk: MergeWalk, list: ListAtom, base: OptionalJsonValue, patch: JsonValue): OptionalJsonValue {
  const left = asList(base)
  const right = asList(patch)
  const leftEmpty = left === undefined || left.length === 0
  const rightEmpty = right === undefined || right.length === 0
  if (list.atomic || (leftEmpty && rightEmpty)) return takePatch(base, patch)
  if (rightEmpty) return left
  if (left !== undefined && haveSameKeys(list, left, right)) return mergeAligned(walk, list, left, right)
  const found = walk.errors.length
  const rightItems = indexItems(walk, list, right, false)
  const leftItems = indexItems(walk, list, left ?? [], true)
  if (walk.errors.length > found) return base
  const out = joinItems(walk, list, leftItems, rightItems)
  if (out.length === 0) return undefined
  return left !== undefined && sameItems(left, out) ? left : out
}

/** Merges lists with the same keys in the same order without indexing them. */
function mergeAligned(walk: MergeWalk, list: ListAtom, left: JsonValue[], right: readonly JsonValue[]): OptionalJsonValue {
  let out: JsonValue[] | undefined
  for (let i = 0; i < left.length; i++) {
    const own = left[i] as JsonValue
    const element = walk.checked ? placeholder : itemElement(list, own)
    walk.enter(element instanceof ListItemError ? placeholder : element)
    const merged = mergeNode(walk, list.items, own, right[i])
    walk.leave()
    if (merged !== own) out ??= left.slice(0, i)
    if (merged !== undefined) out?.push(merged)
  }
  if (out === undefined) return left
  return out.length === 0 ? undefined : out
}

const placeholder: PathElement = 'i:0'

interface IndexedItems {
  readonly items: readonly JsonValue[]
  /** Elements in item order; items without an element are omitted. */
  readonly elements: PathElement[]
  /** The item of an element; `null` for duplicates. */
  readonly byElement: Map<PathElement, JsonValue>
}

function indexItems(walk: MergeWalk, list: ListAtom, items: readonly JsonValue[], duplicates: boolean): IndexedItems {
  const elements: PathElement[] = []
  const byElement = new Map<PathElement, JsonValue>()
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as JsonValue
    const element = reportedElement(walk, list, items, i)
    if (element === undefined) continue
    const known = byElement.has(element)
    if (known && !duplicates) {
      walk.fail(`duplicate entries for key ${formatElement(element)}`)
      continue
    }
    byElement.set(element, known ? null : item)
    elements.push(element)
  }
  return { items, elements, byElement }
}

/**
 * Joins two indexed lists. Items only in the base stay in front of the next shared item; shared items follow the order of the
 * patch.
 */
function joinItems(walk: MergeWalk, list: ListAtom, left: IndexedItems, right: IndexedItems): JsonValue[] {
  const out: JsonValue[] = []
  const shared = right.elements.filter((element) => left.byElement.has(element))
  const done = new Set<PathElement>()
  let nextShared = 0
  let l = 0
  let r = 0
  const take = (element: PathElement, base: OptionalJsonValue, patch: OptionalJsonValue): void => {
    walk.enter(element)
    const merged = mergeNode(walk, list.items, base, patch)
    if (merged !== undefined) out.push(merged)
    walk.leave()
  }
  while (l < left.elements.length || r < right.elements.length) {
    const own = left.elements[l]
    const other = right.elements[r]
    if (own !== undefined && other !== undefined) {
      if (own === other) {
        done.add(own)
        take(own, left.byElement.get(own), right.byElement.get(own))
        l++
        r++
        nextShared++
        continue
      }
      if (right.byElement.has(own) && nextShared < shared.length && shared[nextShared] !== own) {
        l++
        continue
      }
    }
    if (own !== undefined) {
      if (!right.byElement.has(own)) {
        take(own, left.items[l], undefined)
        l++
        continue
      }
      if (done.has(own)) l++
    }
    if (other !== undefined) {
      done.add(other)
      take(other, left.byElement.get(other), right.byElement.get(other))
      r++
      if (nextShared < shared.length && shared[nextShared] === other) nextShared++
    }
  }
  return out
}

function sameItems(a: readonly JsonValue[], b: readonly JsonValue[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i])
}
