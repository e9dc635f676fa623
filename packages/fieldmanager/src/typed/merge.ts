import { isEmptyObject, largeMapSize, memberNames, rememberMemberNames, type Work } from '@krmkit/base/work'
import { type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import type { PathElement } from '../fieldpath/element.ts'
import { formatElement } from '../fieldpath/format-path.ts'
import { copyMembers } from '../value/copy-members.ts'
import { equalValues } from '../value/equal.ts'
import { keysAfter } from '../value/keys.ts'
import type { OptionalJsonValue } from '../value/order.ts'
import { haveSameKeys, itemElement, ListItemError, reportedElement } from './list-item.ts'
import { asList, asMap, defaultForm, formOf, type ListAtom, type MapAtom, ownMember, type TypeRef } from './types.ts'
import { validateScalar } from './validate.ts'
import { Walk } from './walk.ts'

export interface MergeOptions {
  /** Whether the patch is known to match the type, so that members missing in the base are taken without a check. */
  readonly checked?: boolean
}

export class MergeWalk extends Walk {
  readonly checked: boolean

  constructor(checked: boolean) {
    super()
    this.checked = checked
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
export function* mergeTyped(
  base: OptionalJsonValue,
  patch: OptionalJsonValue,
  type: TypeRef,
  options: MergeOptions = {},
): Work<JsonValue | undefined> {
  const walk = new MergeWalk(options.checked === true)
  const out = yield* mergeNode(walk, type, base, patch)
  // With `checked`, paths are placeholders; merge again to report errors with exact paths.
  if (walk.checked && walk.errors.length > 0) return yield* mergeTyped(base, patch, type)
  walk.check()
  return out
}

function* mergeNode(walk: MergeWalk, type: TypeRef, base: OptionalJsonValue, patch: OptionalJsonValue): Work<OptionalJsonValue> {
  if (patch === undefined) return base
  if (base === undefined && walk.checked) return patch
  const { atom } = type
  const form = formOf(atom, patch) ?? defaultForm(atom)
  if (form === 'map' && atom.map !== undefined) return yield* mergeMaps(walk, atom.map, base, patch)
  if (form === 'list' && atom.list !== undefined) return yield* mergeLists(walk, atom.list, base, patch)
  if (atom.scalar === undefined) walk.fail(`schema error: invalid atom: ${type.name ?? 'inlined'}`)
  else {
    const problem = validateScalar(atom.scalar, base)
    const other = problem === undefined ? undefined : validateScalar(atom.scalar, patch)
    if (problem !== undefined && other !== undefined) {
      walk.fail(`lhs: ${problem}`)
      walk.fail(`rhs: ${other}`)
    }
  }
  return yield* takePatch(base, patch)
}

/** Returns `base` when both are equal, so that equal values stay identical. */
function* takePatch(base: OptionalJsonValue, patch: JsonValue): Work<OptionalJsonValue> {
  return (yield* equalValues(base, patch)) ? base : patch
}

/** Number of members and items visited between two yields. */
const stepSize = 64

function* mergeMaps(walk: MergeWalk, map: MapAtom, base: OptionalJsonValue, patch: JsonValue): Work<OptionalJsonValue> {
  const left = asMap(base)
  const right = asMap(patch)
  if (map.atomic) return yield* takePatch(base, patch)
  if (right === undefined) return left === undefined || isEmptyObject(left) ? yield* takePatch(base, patch) : left
  // Fast path for maps of scalars, such as labels and data: members of a checked patch need no type check.
  const scalars = walk.checked && map.fields.size === 0 && map.items?.atom.single === 'scalar'
  let out: JsonObject | undefined
  let members = 0
  let fewer = false
  const keys = memberNames(right)
  if (keys.length > stepSize) yield true
  for (const key of keys) {
    members++
    if (members % stepSize === 0) yield
    const value = right[key]
    if (value === undefined) continue
    // Patch values are never inherited members, so identity suffices.
    if (walk.checked && left !== undefined && left[key] === value) continue
    const own = left === undefined ? undefined : ownMember(left, key)
    const merged = scalars ? yield* takePatch(own, value) : yield* mergeMember(walk, map, key, own, value)
    if (merged === own) continue
    out ??= yield* copyMembers(left ?? {})
    if (merged === undefined) {
      delete out[key]
      fewer = true
    } else setMember(out, key, merged)
  }
  // The emptiness check is costly for large maps, so it comes last.
  if (out === undefined)
    return members === 0 && (left === undefined || isEmptyObject(left)) ? yield* takePatch(base, patch) : left
  if (members > largeMapSize) rememberMemberNames(out, yield* keysAfter(out, memberNames(left ?? {}), memberNames(right)))
  return fewer && isEmptyObject(out) ? undefined : out
}

function* mergeMember(
  walk: MergeWalk,
  map: MapAtom,
  key: string,
  base: OptionalJsonValue,
  patch: JsonValue,
): Work<OptionalJsonValue> {
  const field = map.fields.get(key)
  const type = field?.type ?? map.items
  if (type === undefined) {
    walk.fail(`${key}: field not declared in schema`)
    return base
  }
  walk.enter(field === undefined ? `f:${key}` : field.element)
  const merged = yield* mergeNode(walk, type, base, patch)
  walk.leave()
  return merged
}

function* mergeLists(walk: MergeWalk, list: ListAtom, base: OptionalJsonValue, patch: JsonValue): Work<OptionalJsonValue> {
  const left = asList(base)
  const right = asList(patch)
  const leftEmpty = left === undefined || left.length === 0
  const rightEmpty = right === undefined || right.length === 0
  if (list.atomic || (leftEmpty && rightEmpty)) return yield* takePatch(base, patch)
  if (rightEmpty) return left
  if (left !== undefined && haveSameKeys(list, left, right)) return yield* mergeAligned(walk, list, left, right)
  const found = walk.errors.length
  const rightItems = yield* indexItems(walk, list, right, false)
  const leftItems = yield* indexItems(walk, list, left ?? [], true)
  if (walk.errors.length > found) return base
  const out = yield* joinItems(walk, list, leftItems, rightItems)
  if (out.length === 0) return undefined
  return left !== undefined && sameItems(left, out) ? left : out
}

/** Merges lists with the same keys in the same order without indexing them. */
function* mergeAligned(walk: MergeWalk, list: ListAtom, left: JsonValue[], right: readonly JsonValue[]): Work<OptionalJsonValue> {
  let out: JsonValue[] | undefined
  for (let i = 0; i < left.length; i++) {
    const own = left[i] as JsonValue
    const element = walk.checked ? placeholder : itemElement(list, own)
    walk.enter(element instanceof ListItemError ? placeholder : element)
    const merged = yield* mergeNode(walk, list.items, own, right[i])
    walk.leave()
    if (i % stepSize === stepSize - 1) yield
    if (merged !== own) out ??= left.slice(0, i)
    if (merged !== undefined) out?.push(merged)
  }
  if (out === undefined) return left
  return out.length === 0 ? undefined : out
}

export const placeholder: PathElement = 'i:0'

export interface IndexedItems {
  readonly items: readonly JsonValue[]
  /** Elements in item order; items without an element are omitted. */
  readonly elements: PathElement[]
  /** The item of an element; `null` for duplicates. */
  readonly byElement: Map<PathElement, JsonValue>
}

function* indexItems(walk: MergeWalk, list: ListAtom, items: readonly JsonValue[], duplicates: boolean): Work<IndexedItems> {
  const elements: PathElement[] = []
  const byElement = new Map<PathElement, JsonValue>()
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as JsonValue
    if (i % stepSize === stepSize - 1) yield
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
function* joinItems(walk: MergeWalk, list: ListAtom, left: IndexedItems, right: IndexedItems): Work<JsonValue[]> {
  const out: JsonValue[] = []
  const shared = right.elements.filter((element) => left.byElement.has(element))
  const done = new Set<PathElement>()
  let nextShared = 0
  let l = 0
  let r = 0
  let visited = 0
  while (l < left.elements.length || r < right.elements.length) {
    if (++visited % stepSize === 0) yield
    const own = left.elements[l]
    const other = right.elements[r]
    if (own !== undefined && other !== undefined) {
      if (own === other) {
        done.add(own)
        yield* joinItem(walk, list, out, [own, left.byElement.get(own), right.byElement.get(own)])
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
        yield* joinItem(walk, list, out, [own, left.items[l], undefined])
        l++
        continue
      }
      if (done.has(own)) l++
    }
    if (other !== undefined) {
      done.add(other)
      yield* joinItem(walk, list, out, [other, left.byElement.get(other), right.byElement.get(other)])
      r++
      if (nextShared < shared.length && shared[nextShared] === other) nextShared++
    }
  }
  return out
}

function* joinItem(
  walk: MergeWalk,
  list: ListAtom,
  out: JsonValue[],
  [element, base, patch]: readonly [PathElement, OptionalJsonValue, OptionalJsonValue],
): Work {
  walk.enter(element)
  const merged = yield* mergeNode(walk, list.items, base, patch)
  if (merged !== undefined) out.push(merged)
  walk.leave()
}

export function sameItems(a: readonly JsonValue[], b: readonly JsonValue[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i])
}
