import type { JsonValue } from '@krmkit/meta'
import type { PathElement } from '../fieldpath/element.ts'
import { quote } from '../value/json.ts'
import { isMap, type Value } from '../value/order.ts'

/**
 * The typed schema: what field management knows of a type.
 *
 * A type is a scalar, a list or a map (structs are maps with known members), or several of these when the value
 * decides. Lists are atomic (one owner for all), or associative: maps (items known by key fields) and sets (items known by
 * value). Maps are granular (an owner for each member) or atomic.
 */
export type ScalarAtom = 'string' | 'numeric' | 'boolean' | 'untyped'

/** What a value of a type may look like. */
export interface Atom {
  readonly scalar?: ScalarAtom | undefined
  readonly list?: ListAtom | undefined
  readonly map?: MapAtom | undefined
  /** The only form, when there is just one. */
  readonly single: Form | undefined
}

export type Form = 'scalar' | 'list' | 'map'

export interface ListAtom {
  readonly items: TypeRef
  readonly atomic: boolean
  /** Names of the key fields; without any, an associative list is a set. */
  readonly keys: readonly string[]
  /** How elements of items begin when there is one key field: `k:{"name":`. */
  readonly prefix?: string | undefined
}

export interface MapAtom {
  readonly fields: ReadonlyMap<string, MapField>
  /** Type of members that are not fields; absent: there may be none. */
  readonly items: TypeRef | undefined
  readonly atomic: boolean
}

export interface MapField {
  readonly name: string
  readonly element: PathElement
  readonly type: TypeRef
  /** Stands in for a missing key field. */
  readonly default: JsonValue | undefined
}

/** A type, resolved when it is first looked at, so that types may contain themselves. */
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
  return { items, atomic, keys, prefix: keys.length === 1 ? `k:{${quote(keys[0] as string)}:` : undefined }
}

/** The same type with another relationship of its members or items. */
export function withAtomic(type: TypeRef, atomic: boolean): TypeRef {
  return new TypeRef(type.name, () => {
    const { scalar, list, map } = type.atom
    return atomOf({ scalar, list: list && { ...list, atomic }, map: map && { ...map, atomic } })
  })
}

/** Which form the value itself asks for; `undefined` when it does not say (null, absent, or of no allowed form). */
export function formOf(atom: Atom, value: Value): Form | undefined {
  if (atom.single !== undefined) return atom.single
  if (value === null || value === undefined) return undefined
  if (Array.isArray(value)) return atom.list === undefined ? undefined : 'list'
  if (typeof value === 'object') return atom.map === undefined ? undefined : 'map'
  return atom.scalar === undefined ? undefined : 'scalar'
}

/** The form by which a value is handled when it does not say one itself. */
export function defaultForm(atom: Atom): Form {
  return atom.map !== undefined ? 'map' : atom.scalar !== undefined ? 'scalar' : 'list'
}

/** Type of a member of a map; `undefined` when the map has no such member. */
export function memberType(map: MapAtom, name: string): TypeRef | undefined {
  return map.fields.get(name)?.type ?? map.items
}

/** An own member; never one that every object inherits. */
export function ownMember(object: { readonly [key: string]: JsonValue }, key: string): JsonValue | undefined {
  const value = object[key]
  if ((typeof value === 'function' || key === '__proto__') && !Object.hasOwn(object, key)) return undefined
  return value
}

/** The value as a map; `undefined` for null and everything else. */
export function asMap(value: Value): { [key: string]: JsonValue } | undefined {
  return isMap(value) ? value : undefined
}

export function asList(value: Value): JsonValue[] | undefined {
  return Array.isArray(value) ? value : undefined
}

/** Sets an own member, whatever it is called. */
export function setMember(object: { [key: string]: JsonValue }, key: string, value: JsonValue): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  else object[key] = value
}

/** A copy whose members may be set, whatever they are called. Large maps become tables, which is made in a third of the time. */
export function copyMembers(object: { readonly [key: string]: JsonValue } | undefined): { [key: string]: JsonValue } {
  if (object === undefined) return {}
  if (Object.keys(object).length < manyMembers) return { ...object }
  const table = Object.create(null) as { [key: string]: JsonValue }
  for (const key in object) table[key] = object[key] as JsonValue
  return Object.setPrototypeOf(table, Object.prototype) as { [key: string]: JsonValue }
}

const manyMembers = 128
