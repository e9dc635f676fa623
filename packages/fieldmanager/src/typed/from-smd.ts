import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import { fieldElement } from '../fieldpath/element.ts'
import { deducedName, deducedType, untypedName, untypedType } from './deduced.ts'
import {
  type Atom,
  atomOf,
  type ListAtom,
  listAtom,
  type MapAtom,
  type MapField,
  type ScalarAtom,
  TypeRef,
  withRelationship,
} from './types.ts'

/** The types of a schema in structured-merge-diff form, by name. */
export interface TypedSchema {
  /** @throws FieldManagerError `InvalidSchema` for an unknown name. */
  type(name: string): TypeRef
  readonly names: readonly string[]
}

/**
 * Reads a schema in structured-merge-diff form: `{ types: [{ name, scalar | list | map }] }`, as JSON values (parse YAML first).
 *
 * @throws FieldManagerError `InvalidSchema`: immediately for types and fields without a name; on use for unknown type names and scalars.
 * @example
 * ```ts
 * import { typedSchemaFromSmd } from '@krmkit/fieldmanager'
 * import { validateValue } from '@krmkit/fieldmanager/typed'
 *
 * const { type } = typedSchemaFromSmd({ types: [{ name: 'root', map: { elementType: { scalar: 'string' } } }] })
 * validateValue({ replicas: 1 }, type('root')) // ['.replicas: expected string, got 1']
 * ```
 */
export function typedSchemaFromSmd(schema: JsonValue): TypedSchema {
  const types = new Map<string, TypeRef>()
  const lookup = (name: string): TypeRef => {
    const found = types.get(name) ?? builtIn(name)
    if (found === undefined)
      throw new FieldManagerError({ code: 'InvalidSchema', message: `schema error: no type found matching: ${name}` })
    return found
  }
  for (const def of listOf(schema, 'types')) {
    const name = def.name
    if (typeof name !== 'string') throw new FieldManagerError({ code: 'InvalidSchema', message: 'a type needs a name' })
    types.set(name, new TypeRef(name, () => readAtom(def, lookup)))
  }
  return { type: lookup, names: [...types.keys()] }
}

type Lookup = (name: string) => TypeRef

function builtIn(name: string): TypeRef | undefined {
  if (name === deducedName) return deducedType
  return name === untypedName ? untypedType : undefined
}

function readAtom(def: JsonObject, lookup: Lookup): Atom {
  const { scalar, list, map } = def
  return atomOf({
    scalar: scalar === undefined ? undefined : readScalar(scalar),
    list: isJsonObject(list) ? readList(list, lookup) : undefined,
    map: isJsonObject(map) ? readMap(map, lookup) : undefined,
  })
}

function readScalar(value: JsonValue): ScalarAtom {
  if (value === 'string' || value === 'numeric' || value === 'boolean' || value === 'untyped') return value
  throw new FieldManagerError({ code: 'InvalidSchema', message: `unexpected scalar type in schema: ${String(value)}` })
}

function readList(def: JsonObject, lookup: Lookup): ListAtom {
  const keys = Array.isArray(def.keys) ? def.keys.filter((key) => typeof key === 'string') : []
  return listAtom(readRef(def.elementType, lookup) ?? invalidType, def.elementRelationship !== 'associative', keys)
}

function readMap(def: JsonObject, lookup: Lookup): MapAtom {
  const fields = new Map<string, MapField>()
  for (const field of listOf(def, 'fields')) {
    const { name } = field
    if (typeof name !== 'string') throw new FieldManagerError({ code: 'InvalidSchema', message: 'a field needs a name' })
    const type = readRef(field.type, lookup) ?? invalidType
    const byDefault = field.default
    fields.set(name, { name, element: fieldElement(name), type, default: byDefault === null ? undefined : byDefault })
  }
  return { fields, items: readRef(def.elementType, lookup), atomic: def.elementRelationship === 'atomic' }
}

/** Returns `undefined` for `{}`; a map without element type allows declared fields only. */
function readRef(ref: JsonValue | undefined, lookup: Lookup): TypeRef | undefined {
  if (!isJsonObject(ref)) return undefined
  const { namedType, elementRelationship } = ref
  const named = typeof namedType === 'string'
  if (!named && ref.scalar === undefined && ref.list === undefined && ref.map === undefined) return undefined
  const type = named ? new TypeRef(namedType, () => lookup(namedType).atom) : new TypeRef(undefined, () => readAtom(ref, lookup))
  return typeof elementRelationship === 'string' ? withRelationship(type, elementRelationship) : type
}

const invalidType = new TypeRef(undefined, () => atomOf({}))

function listOf(value: JsonValue, member: string): JsonObject[] {
  const list = isJsonObject(value) ? value[member] : undefined
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}
