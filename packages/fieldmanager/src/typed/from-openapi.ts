import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import { fieldElement } from '../fieldpath/element.ts'
import { deducedType, untypedType } from './deduced.ts'
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

export interface OpenApiOptions {
  /** Resolves a `$ref` by its last segment. */
  readonly resolve?: (name: string) => JsonObject | undefined
  /** Types of root members that the schema need not describe: `apiVersion`, `kind`, `metadata`. */
  readonly root?: Readonly<Record<string, TypeRef>>
  /** Whether to keep unknown members everywhere, like `preserveUnknownFields` of a CustomResourceDefinition. */
  readonly preserveUnknownFields?: boolean
  /** Type of `metadata` of embedded resources. */
  readonly metadata?: TypeRef
}

/**
 * Builds the typed schema of an OpenAPI schema: the structural schema of a custom resource, or a definition of an OpenAPI v3
 * document.
 *
 * Supports `x-kubernetes-list-type`, `-list-map-keys`, `-map-type`, `-struct-type`, `-patch-strategy`, `-patch-merge-key`,
 * `-preserve-unknown-fields` and `-embedded-resource`. Objects without described members are deduced, lists without markers are
 * atomic, and schemas without a type, such as those of integers or strings, accept any value.
 *
 * @throws FieldManagerError `InvalidSchema`, when the faulty part is first used.
 * @see API protocol specification, 4.7
 * @example
 * ```ts
 * import { diffObjects, typedSchemaFromOpenApi } from '@krmkit/fieldmanager'
 *
 * const tags = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }
 * const schema = typedSchemaFromOpenApi({ type: 'object', properties: { tags } })
 * diffObjects({ tags: ['a', 'b'] }, { tags: ['b', 'a', 'c'] }, schema).map(({ field }) => field) // ['.tags[="c"]']
 * ```
 */
export function typedSchemaFromOpenApi(schema: JsonObject, options: OpenApiOptions = {}): TypeRef {
  const reader = new Reader(options)
  const { root } = options
  if (root === undefined) return reader.typeOf(schema, options.preserveUnknownFields === true)
  return new TypeRef(undefined, () => {
    const atom = reader.atom(schema, options.preserveUnknownFields === true)
    const map = atom.map ?? { fields: new Map(), items: deducedType, atomic: false }
    const fields = new Map(map.fields)
    for (const [name, type] of Object.entries(root)) {
      fields.set(name, { name, element: fieldElement(name), type, default: undefined })
    }
    return atomOf({ map: { ...map, fields } })
  })
}

class Reader {
  readonly #options: OpenApiOptions
  readonly #named = new Map<string, TypeRef>()

  constructor(options: OpenApiOptions) {
    this.#options = options
  }

  typeOf(schema: JsonObject, preserve: boolean): TypeRef {
    const reference = referenceOf(schema)
    if (reference === undefined) return new TypeRef(undefined, () => this.atom(schema, preserve))
    const type = this.#namedType(reference)
    const relationship = mapRelationship(schema)
    return relationship === undefined ? type : withRelationship(type, relationship ? 'atomic' : 'separable')
  }

  atom(schema: JsonObject, inherited: boolean): Atom {
    const preserve = inherited || schema['x-kubernetes-preserve-unknown-fields'] === true
    switch (schema.type) {
      case undefined:
      case '':
        return atomOf({ scalar: 'untyped', list: this.#list(schema, preserve), map: this.#map(schema, preserve) })
      case 'object':
        return atomOf({ map: this.#map(schema, preserve) })
      case 'array':
        return atomOf({ list: this.#list(schema, preserve) })
      default:
        return atomOf({ scalar: scalarOf(schema) })
    }
  }

  #namedType(reference: string): TypeRef {
    const name = reference.slice(reference.lastIndexOf('/') + 1)
    let type = this.#named.get(name)
    if (type === undefined) {
      type = new TypeRef(name, () => {
        const schema = this.#options.resolve?.(name)
        if (schema === undefined)
          throw new FieldManagerError({ code: 'InvalidSchema', message: `schema error: no type found matching: ${name}` })
        return this.atom(schema, this.#options.preserveUnknownFields === true)
      })
      this.#named.set(name, type)
    }
    return type
  }

  #map(schema: JsonObject, preserve: boolean): MapAtom {
    const fields = new Map<string, MapField>()
    const properties = isJsonObject(schema.properties) ? schema.properties : {}
    for (const name of Object.keys(properties)) {
      const member = properties[name]
      if (!isJsonObject(member))
        throw new FieldManagerError({ code: 'InvalidSchema', message: `the schema of ${name} must be an object` })
      fields.set(name, {
        name,
        element: fieldElement(name),
        type: this.typeOf(member, preserve),
        default: member.default ?? undefined,
      })
    }
    if (schema['x-kubernetes-embedded-resource'] === true) this.#addObjectMembers(fields)
    return { fields, items: this.#membersOf(schema, fields.size, preserve), atomic: mapRelationship(schema) === true }
  }

  #membersOf(schema: JsonObject, described: number, preserve: boolean): TypeRef | undefined {
    const rest = schema.additionalProperties
    if (isJsonObject(rest)) return this.typeOf(rest, preserve)
    if (rest === true) return deducedType
    if (rest === false) return undefined
    return preserve || described === 0 ? deducedType : undefined
  }

  #addObjectMembers(fields: Map<string, MapField>): void {
    const text = new TypeRef(undefined, () => atomOf({ scalar: 'string' }))
    const members = { apiVersion: text, kind: text, metadata: this.#options.metadata ?? deducedType }
    for (const [name, type] of Object.entries(members)) {
      if (!fields.has(name)) fields.set(name, { name, element: fieldElement(name), type, default: undefined })
    }
  }

  #list(schema: JsonObject, preserve: boolean): ListAtom {
    const items = isJsonObject(schema.items) ? this.typeOf(schema.items, preserve) : untypedType
    const { atomic, keys } = listRelationship(schema)
    return listAtom(items, atomic, keys)
  }
}

/** The target of a `$ref` that stands alone or in a single `allOf`. */
function referenceOf(schema: JsonObject): string | undefined {
  if (typeof schema.$ref === 'string') return schema.$ref
  const { allOf } = schema
  const only = Array.isArray(allOf) && allOf.length === 1 ? allOf[0] : undefined
  return isJsonObject(only) && typeof only.$ref === 'string' ? only.$ref : undefined
}

function scalarOf({ type, format }: JsonObject): ScalarAtom {
  if (type === 'integer' || type === 'number') return 'numeric'
  if (type === 'boolean') return 'boolean'
  return type === 'string' && (format === undefined || format === '' || format === 'byte') ? 'string' : 'untyped'
}

function listRelationship(schema: JsonObject): { atomic: boolean; keys: readonly string[] } {
  const type = schema['x-kubernetes-list-type']
  if (type !== undefined) {
    if (type === 'map') return { atomic: false, keys: mapKeys(schema['x-kubernetes-list-map-keys']) }
    if (type === 'atomic' || type === 'set') return { atomic: type === 'atomic', keys: [] }
    throw new FieldManagerError({ code: 'InvalidSchema', message: `unknown list type ${String(type)}` })
  }
  const strategy = schema['x-kubernetes-patch-strategy']
  const merged = typeof strategy === 'string' && strategy.split(',').includes('merge')
  const key = schema['x-kubernetes-patch-merge-key']
  return { atomic: !merged, keys: merged && typeof key === 'string' ? [key] : [] }
}

function mapKeys(keys: JsonValue | undefined): readonly string[] {
  const names = Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : []
  if (names.length === 0) throw new FieldManagerError({ code: 'InvalidSchema', message: 'missing map keys' })
  return names
}

/** True for atomic, false for granular, `undefined` when unspecified. */
function mapRelationship(schema: JsonObject): boolean | undefined {
  const relationship = schema['x-kubernetes-map-type'] ?? schema['x-kubernetes-struct-type']
  if (relationship === undefined) return undefined
  if (relationship === 'atomic' || relationship === 'granular') return relationship === 'atomic'
  throw new FieldManagerError({ code: 'InvalidSchema', message: `unknown map type ${String(relationship)}` })
}
