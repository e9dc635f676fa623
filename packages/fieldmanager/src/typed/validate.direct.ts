// Derived from validate.ts by `npm run direct`: do not edit.
import { isJsonObject, type JsonValue } from '@krmkit/meta'
import type { PathElement } from '../fieldpath/element.ts'
import { defaultForm, formOf, type ListAtom, type MapAtom, type TypeRef } from './types.ts'
import { enterItem, enterMember, formatForError, type ValidateOptions, validateScalar } from './validate.ts'
import { Walk } from './walk.ts'

/**
 * Validates a value against its type.
 *
 * @returns errors such as `.spec.foo: field not declared in schema`, at most 1000; empty for a valid value.
 * @see {@link typedSchemaOf} for an example.
 */
export function validateValue(value: JsonValue, type: TypeRef, options: ValidateOptions = {}): readonly string[] {
  const walk = new Walk()
  validate(value, type, walk, options.allowDuplicates === true)
  return walk.errors
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
    if (walk.full) return
    const type = enterMember(map, key, walk)
    if (type !== undefined) validate(member, type, walk, duplicates)
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
    if (walk.full || !enterItem(list, value, i, { seen, walk, duplicates })) return
    validate(value[i] as JsonValue, list.items, walk, duplicates)
    walk.leave()
  }
}
