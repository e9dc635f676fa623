import { isJsonObject, type JsonValue } from '@krmkit/meta'
import { indexElement, type PathElement } from '../fieldpath/element.ts'
import { formatElement } from '../fieldpath/format-path.ts'
import { goType } from '../value/type-names.ts'
import { itemElement, ListItemError } from './list-item.ts'
import type { ListAtom, MapAtom, ScalarAtom, TypeRef } from './types.ts'
import { defaultForm, formOf, memberType, setMember } from './types.ts'
import { Walk } from './walk.ts'

export interface ValidateOptions {
  /** Accepts several items with the same key, as live objects may have. */
  readonly allowDuplicates?: boolean
}

/**
 * Validates a value against its type.
 *
 * @returns errors such as `.spec.foo: field not declared in schema`; empty for a valid value.
 * @see {@link typedSchemaOf} for an example.
 */
export function validateValue(value: JsonValue, type: TypeRef, options: ValidateOptions = {}): readonly string[] {
  const walk = new Walk()
  validate(value, type, walk, options.allowDuplicates === true)
  return walk.errors
}

/** Validates a scalar; returns the error, or `undefined` when it fits. Null and absent values always fit. */
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

function validate(value: JsonValue, type: TypeRef, walk: Walk, duplicates: boolean): void {
  const { atom } = type
  const form = formOf(atom, value) ?? defaultForm(atom)
  if (form === 'map' && atom.map !== undefined) validateMap(value, atom.map, walk, duplicates)
  else if (form === 'list' && atom.list !== undefined) validateList(value, atom.list, walk, duplicates)
  else if (atom.scalar !== undefined) {
    const problem = validateScalar(atom.scalar, value)
    if (problem !== undefined) walk.fail(problem)
  } else walk.fail(`schema error: invalid atom: ${type.name === undefined ? 'inlined' : `named type: ${type.name}`}`)
}

function validateMap(value: JsonValue, map: MapAtom, walk: Walk, duplicates: boolean): void {
  if (value === null) return
  if (!isJsonObject(value)) {
    walk.fail(`expected map, got ${formatForError(value)}`)
    return
  }
  for (const key in value) {
    const member = value[key]
    if (member === undefined) continue
    const type = memberType(map, key)
    walk.enter(map.fields.get(key)?.element ?? `f:${key}`)
    if (type === undefined) walk.fail('field not declared in schema')
    else validate(member, type, walk, duplicates)
    walk.leave()
  }
}

function validateList(value: JsonValue, list: ListAtom, walk: Walk, duplicates: boolean): void {
  if (value === null) return
  if (!Array.isArray(value)) {
    walk.fail(`expected list, got ${formatForError(value)}`)
    return
  }
  const seen = list.atomic ? undefined : new Set<PathElement>()
  for (let i = 0; i < value.length; i++) {
    const item = value[i] as JsonValue
    const element = seen === undefined ? indexElement(i) : itemElement(list, item)
    // Paths below an item without element cannot be expressed.
    if (element instanceof ListItemError) {
      walk.fail(`element ${i}: ${element.message}`)
      return
    }
    walk.enter(element)
    if (seen?.has(element) && !duplicates) {
      walk.leave()
      walk.fail(`duplicate entries for key ${formatElement(element)}`)
      walk.enter(element)
    }
    seen?.add(element)
    validate(item, list.items, walk, duplicates)
    walk.leave()
  }
}
