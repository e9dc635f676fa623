import { isJsonObject, type JsonValue } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import type { PathElement } from '../fieldpath/element.ts'
import { quoteJson } from '../value/json.ts'
import type { OptionalJsonValue } from '../value/order.ts'

/**
 * Typed schemas: the part of a type that field management uses.
 *
 * A type is a scalar, a list or a map (a struct is a map with declared fields), or a choice of these by value. Lists are atomic
 * (owned as a whole) or associative: maps (items identified by key fields) or sets (items identified by value). Maps are granular
 * (owned member by member) or atomic.
 */
export type ScalarAtom = 'string' | 'numeric' | 'boolean' | 'untyped'

/** The forms that values of a type may have. */
export interface Atom {
  readonly scalar?: ScalarAtom | undefined
  readonly list?: ListAtom | undefined
  readonly map?: MapAtom | undefined
  /** The only form, if there is exactly one. */
  readonly single: Form | undefined
}

export type Form = 'scalar' | 'list' | 'map'

export interface ListAtom {
  readonly items: TypeRef
  readonly atomic: boolean
  /** Names of the key fields; an associative list without keys is a set. */
  readonly keys: readonly string[]
  /** Common prefix of item elements for a single key field: `k:{"name":`. */
  readonly prefix?: string | undefined
}

export interface MapAtom {
  readonly fields: ReadonlyMap<string, MapField>
  /** Type of undeclared members; when absent, they are not allowed. */
  readonly items: TypeRef | undefined
  readonly atomic: boolean
}

export interface MapField {
  readonly name: string
  readonly element: PathElement
  readonly type: TypeRef
  /** Value of the key field in items that omit it. */
  readonly default: JsonValue | undefined
}

/** A type that is resolved on first access, so that types may be recursive. */
export class TypeRef {
  readonly name: string | undefined
  #atom: Atom | undefined
  readonly #resolve: () => Atom

  constructor(name: string | undefined, resolve: () => Atom) {
    this.name = name
    this.#resolve = resolve
  }

  get atom(): Atom {
    this.#atom ??= this.#resolve()
    return this.#atom
  }
}

export function atomOf(parts: { scalar?: ScalarAtom | undefined; list?: ListAtom | undefined; map?: MapAtom | undefined }): Atom {
  const forms: Form[] = []
  if (parts.map !== undefined) forms.push('map')
  if (parts.scalar !== undefined) forms.push('scalar')
  if (parts.list !== undefined) forms.push('list')
  return { scalar: parts.scalar, list: parts.list, map: parts.map, single: forms.length === 1 ? forms[0] : undefined }
}

export function listAtom(items: TypeRef, atomic: boolean, keys: readonly string[] = []): ListAtom {
  return { items, atomic, keys, prefix: keys.length === 1 ? `k:{${quoteJson(keys[0] as string)}:` : undefined }
}

/**
 * The type with the relationship that a reference specifies, which applies to its map, or to its list when it has no map. As in
 * structured-merge-diff, using the type throws FieldManagerError `InvalidSchema` when it has neither map nor list, or when the relationship
 * is not valid for lists.
 */
export function withRelationship(type: TypeRef, relationship: string): TypeRef {
  return new TypeRef(type.name, () => {
    const { scalar, list, map } = type.atom
    const atomic = relationship === 'atomic'
    if (map !== undefined) return atomOf({ scalar, list, map: { ...map, atomic } })
    if (list === undefined) {
      throw new FieldManagerError({
        code: 'InvalidSchema',
        message: `schema error: no type found matching: ${type.name ?? 'inlined type'}`,
      })
    }
    if (!atomic && relationship !== 'associative') {
      throw new FieldManagerError({ code: 'InvalidSchema', message: 'invalid indexing of non-associative list' })
    }
    return atomOf({ scalar, list: { ...list, atomic }, map })
  })
}

/** The form determined by the value; `undefined` for null, absent values and disallowed forms. */
export function formOf(atom: Atom, value: OptionalJsonValue): Form | undefined {
  if (atom.single !== undefined) return atom.single
  if (value === null || value === undefined) return undefined
  if (Array.isArray(value)) return atom.list === undefined ? undefined : 'list'
  if (typeof value === 'object') return atom.map === undefined ? undefined : 'map'
  return atom.scalar === undefined ? undefined : 'scalar'
}

/** The form for values that do not determine one. */
export function defaultForm(atom: Atom): Form {
  return atom.map !== undefined ? 'map' : atom.scalar !== undefined ? 'scalar' : 'list'
}

/** The type of a member; `undefined` when the map does not allow it. */
export function memberType(map: MapAtom, name: string): TypeRef | undefined {
  return map.fields.get(name)?.type ?? map.items
}

/** An own member; inherited ones count as absent. */
export function ownMember(object: { readonly [key: string]: JsonValue }, key: string): JsonValue | undefined {
  const value = object[key]
  if ((typeof value === 'function' || key === '__proto__') && !Object.hasOwn(object, key)) return undefined
  return value
}

/** The value as a map; `undefined` for everything else. */
export function asMap(value: OptionalJsonValue): { [key: string]: JsonValue } | undefined {
  return isJsonObject(value) ? value : undefined
}

export function asList(value: OptionalJsonValue): JsonValue[] | undefined {
  return Array.isArray(value) ? value : undefined
}
