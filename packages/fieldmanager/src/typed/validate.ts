import { memberNames, type Work } from '@krmkit/base/work'
import { isJsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { indexElement, type PathElement } from '../fieldpath/element.ts'
import { formatElement } from '../fieldpath/format-path.ts'
import { goType } from '../value/type-names.ts'
import { itemElement, ListItemError } from './list-item.ts'
import { defaultForm, formOf, type ListAtom, type MapAtom, memberType, type ScalarAtom, type TypeRef } from './types.ts'
import { Walk } from './walk.ts'

export interface ValidateOptions {
  /** Whether to accept several items with the same key, which live objects may have. */
  readonly allowDuplicates?: boolean
}

/**
 * Validates a value against its type.
 *
 * @returns errors such as `.spec.foo: field not declared in schema`, at most 1000; empty for a valid value.
 * @see {@link typedSchemaOf} for an example.
 */
export function* validateValue(value: JsonValue, type: TypeRef, options: ValidateOptions = {}): Work<readonly string[]> {
  const walk = new Walk()
  yield* validate(value, type, walk, options.allowDuplicates === true)
  return walk.errors
}

/** Number of members and items visited between two yields. */
const stepSize = 64

function* validate(value: JsonValue, type: TypeRef, walk: Walk, duplicates: boolean): Work {
  const { atom } = type
  const form = formOf(atom, value) ?? defaultForm(atom)
  if (form === 'map' && atom.map !== undefined) yield* validateMap(value, atom.map, walk, duplicates)
  else if (form === 'list' && atom.list !== undefined) yield* validateList(value, atom.list, walk, duplicates)
  else if (atom.scalar !== undefined) {
    const problem = validateScalar(atom.scalar, value)
    if (problem !== undefined) walk.fail(problem)
  } else walk.fail(`schema error: invalid atom: ${type.name === undefined ? 'inlined' : `named type: ${type.name}`}`)
}

function* validateMap(value: JsonValue, map: MapAtom, walk: Walk, duplicates: boolean): Work {
  if (value === null) return
  if (!isJsonObject(value)) {
    walk.fail(`expected map, got ${formatForError(value)}`)
    return
  }
  let visited = 0
  const keys = memberNames(value)
  if (keys.length > stepSize) yield true
  for (const key of keys) {
    if (++visited % stepSize === 0) yield
    const member = value[key]
    if (member === undefined) continue
    if (walk.full) return
    const type = enterMember(map, key, walk)
    if (type !== undefined) yield* validate(member, type, walk, duplicates)
    walk.leave()
  }
}

/** @returns undefined for an unknown member, which is reported. */
export function enterMember(map: MapAtom, key: string, walk: Walk): TypeRef | undefined {
  const type = memberType(map, key)
  walk.enter(map.fields.get(key)?.element ?? `f:${key}`)
  if (type === undefined) walk.fail('field not declared in schema')
  return type
}

function* validateList(value: JsonValue, list: ListAtom, walk: Walk, duplicates: boolean): Work {
  if (value === null) return
  if (!Array.isArray(value)) {
    walk.fail(`expected list, got ${formatForError(value)}`)
    return
  }
  const seen = list.atomic ? undefined : new Set<PathElement>()
  for (let i = 0; i < value.length; i++) {
    if (walk.full || !enterItem(list, value, i, { seen, walk, duplicates })) return
    yield* validate(value[i] as JsonValue, list.items, walk, duplicates)
    walk.leave()
    if (i % stepSize === stepSize - 1) yield
  }
}

interface ItemWalk {
  /** Elements of the preceding items; undefined for an atomic list. */
  readonly seen: Set<PathElement> | undefined
  readonly walk: Walk
  readonly duplicates: boolean
}

/** @returns false for an item without an element, which is reported, because paths below it cannot be expressed. */
export function enterItem(list: ListAtom, items: readonly JsonValue[], i: number, { seen, walk, duplicates }: ItemWalk): boolean {
  const element = seen === undefined ? indexElement(i) : itemElement(list, items[i] as JsonValue)
  if (element instanceof ListItemError) {
    walk.fail(`element ${i}: ${element.message}`)
    return false
  }
  if (seen?.has(element) && !duplicates) walk.fail(`duplicate entries for key ${formatElement(element)}`)
  seen?.add(element)
  walk.enter(element)
  return true
}

/** Validates a scalar. Returns the error, or `undefined` when the value matches. Null and absent values always match. */
export function validateScalar(scalar: ScalarAtom, value: JsonValue | undefined): string | undefined {
  if (value === null || value === undefined) return undefined
  const type = typeof value
  switch (scalar) {
    case 'numeric':
      return type === 'number' || type === 'bigint' ? undefined : `expected numeric (int or float), got ${goType(value)}`
    case 'string':
      return type === 'string' ? undefined : `expected string, got ${formatForError(value)}`
    case 'boolean':
      return type === 'boolean' ? undefined : `expected boolean, got ${formatForError(value)}`
    default:
      return type === 'object' ? `expected any scalar, got ${formatForError(value)}` : undefined
  }
}

/** Formats a value for an error message, truncated. */
export function formatForError(value: JsonValue): string {
  const text = JSON.stringify(truncate(value, { left: maxFormattedLength }), (_, member) =>
    typeof member === 'bigint' ? String(member) : member,
  )
  return text.length > maxFormattedLength ? `${text.slice(0, maxFormattedLength)}...` : text
}

/** Maximum length of formatted values, in characters. */
const maxFormattedLength = 200

/** A prefix of the value that suffices for the formatted text. */
function truncate(value: JsonValue, budget: { left: number }): JsonValue {
  budget.left--
  if (typeof value === 'string') {
    budget.left -= value.length
    return value.length > maxFormattedLength ? value.slice(0, maxFormattedLength + 1) : value
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items: JsonValue[] = []
    for (let i = 0; i < value.length && budget.left >= 0; i++) items.push(truncate(value[i] as JsonValue, budget))
    return items
  }
  const members: { [key: string]: JsonValue } = {}
  for (const key in value) {
    if (budget.left < 0) break
    budget.left -= key.length
    setMember(members, key, truncate(value[key] as JsonValue, budget))
  }
  return members
}
