import { memberNames } from '@krmkit/base/work'
import { escapeName } from '@krmkit/cel'
import {
  Double,
  ErrorValue,
  JsonList,
  JsonMap,
  ListValue,
  type MapValue,
  type MemberComparison,
  PreservedJson,
  RawMap,
  sameJson,
  type Value,
} from '@krmkit/cel/values'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { base64ToBytes } from '../decode/base64.ts'
import { own } from '../json/json-object.ts'
import { parseSchemaDuration, parseSchemaTimestamp } from './schema-times.ts'

/**
 * Presents validated JSON as CEL values by its schema: formatted strings become timestamps, durations or bytes, lists may be
 * sets or have keys, numbers become doubles. Members are converted on access.
 */
export type ValueAdapter = (raw: JsonValue) => Value

const notNullable = new ErrorValue('invalid data, got null for schema with nullable=false')

/**
 * Creates the function that presents values of a schema to expressions.
 *
 * @param root whether the schema is that of a whole object, which always has type and metadata.
 * @example
 * import { schemaAdapter } from '@krmkit/schema/rules'
 * const name = schemaAdapter({ type: 'string' })
 * name('web') // 'web'
 * const timestamp = schemaAdapter({ type: 'string', format: 'date-time' })
 * timestamp('2024-01-01T00:00:00Z') // Timestamp { nanos: 1704067200000000000n, offset: 0 }
 */
export function schemaAdapter(schema: JsonObject, root = false): ValueAdapter {
  const adapt = adapterOf(schema, root || own(schema, 'x-kubernetes-embedded-resource') === true)
  const nullable = own(schema, 'nullable') === true
  return (raw) => (raw === null || raw === undefined ? (nullable ? null : notNullable) : adapt(raw))
}

function adapterOf(schema: JsonObject, whole: boolean): ValueAdapter {
  if (own(schema, 'x-kubernetes-int-or-string') === true) {
    const wrong = new ErrorValue('invalid data, expected XIntOrString value to be either a string or integer')
    return (raw) => (typeof raw === 'string' || isWhole(raw) ? raw : wrong)
  }
  switch (own(schema, 'type')) {
    case 'object':
      return objectAdapter(schema, whole)
    case 'array':
      return listAdapter(schema)
    case 'string':
      return textAdapter(own(schema, 'format'))
    case 'number':
      return (raw) => (typeof raw === 'number' || typeof raw === 'bigint' ? new Double(Number(raw)) : unexpected('float', raw))
    case 'integer':
      return (raw) => (isWhole(raw) ? raw : unexpected('int', raw))
    case 'boolean':
      return (raw) => (typeof raw === 'boolean' ? raw : unexpected('bool', raw))
  }
  if (own(schema, 'x-kubernetes-preserve-unknown-fields') === true) return (raw) => new PreservedJson(raw)
  const wrong = new ErrorValue('invalid type, expected object, array, number, integer, boolean or string')
  return () => wrong
}

function unexpected(wanted: string, raw: JsonValue): ErrorValue {
  return new ErrorValue(`invalid data, expected ${wanted}, got ${goTypeName(raw)}`)
}

/** The Go type of a decoded JSON value. */
function goTypeName(raw: JsonValue): string {
  if (Array.isArray(raw)) return '[]interface {}'
  if (typeof raw === 'string') return 'string'
  if (typeof raw === 'boolean') return 'bool'
  if (typeof raw === 'object') return raw === null ? '<nil>' : 'map[string]interface {}'
  return isWhole(raw) ? 'int64' : 'float64'
}

function isWhole(raw: JsonValue): raw is number | bigint {
  return typeof raw === 'bigint' || (typeof raw === 'number' && Number.isSafeInteger(raw))
}

const openAdapter: ValueAdapter = (raw) => {
  if (Array.isArray(raw)) return new JsonList(raw)
  if (isJsonObject(raw)) return new JsonMap(raw)
  return typeof raw === 'number' && !Number.isSafeInteger(raw) ? new Double(raw) : raw
}

const anyText: JsonObject = { type: 'string' }

/** Adapters of the members of an object, created on first use. */
class MemberAdapters {
  readonly #schemas: ReadonlyMap<string, JsonObject>
  readonly #rest: JsonObject | undefined
  /** JSON names by expression name. */
  readonly #names = new Map<string, string>()
  readonly #adapters = new Map<string, ValueAdapter>()
  #other: ValueAdapter | undefined
  readonly declared: boolean

  constructor(schemas: ReadonlyMap<string, JsonObject>, rest: JsonObject | undefined, declared: boolean) {
    this.#schemas = schemas
    this.#rest = rest
    this.declared = declared
    if (!declared) return
    for (const name of schemas.keys()) {
      const escaped = escapeName(name)
      if (escaped !== undefined) this.#names.set(escaped, name)
      // Maps without a schema use unescaped names.
      if (escaped !== name) this.#names.set(name, name)
    }
  }

  /** JSON name of a name in an expression. */
  named(name: string): string | undefined {
    return this.declared ? this.#names.get(name) : name
  }

  /** The adapter of a member; `undefined` for one that the schema does not describe. */
  adapter(name: string): ValueAdapter | undefined {
    const found = this.#adapters.get(name)
    if (found !== undefined) return found
    const schema = this.#schemas.get(name)
    if (schema === undefined) {
      if (this.#rest !== undefined) this.#other ??= schemaAdapter(this.#rest)
      return this.#other
    }
    const made = schemaAdapter(schema)
    this.#adapters.set(name, made)
    return made
  }
}

function objectAdapter(schema: JsonObject, whole: boolean): ValueAdapter {
  const schemas = new Map<string, JsonObject>()
  const properties = own(schema, 'properties')
  if (isJsonObject(properties))
    for (const [name, property] of Object.entries(properties)) if (isJsonObject(property)) schemas.set(name, property)
  if (whole) {
    schemas.set('apiVersion', anyText).set('kind', anyText)
    schemas.set('metadata', { type: 'object', properties: { name: anyText, generateName: anyText } })
  }
  const rest = own(schema, 'additionalProperties')
  const members = new MemberAdapters(schemas, isJsonObject(rest) ? rest : undefined, whole || schemas.size > 0)
  const wrong = new ErrorValue('invalid data, expected a map for the provided schema with type=object')
  return (raw) => (isJsonObject(raw) ? new SchemaMap(raw, members) : wrong)
}

/** An object of a schema, or a map. */
class SchemaMap extends RawMap {
  readonly #members: MemberAdapters

  constructor(raw: JsonObject, members: MemberAdapters) {
    super(raw)
    this.#members = members
  }

  field(name: string): Value | undefined {
    const key = this.#members.named(name)
    return key === undefined ? undefined : this.#member(key)
  }

  /** Returns a member. Null members of objects count as absent. */
  #member(key: string): Value | undefined {
    if (!Object.hasOwn(this.raw, key)) return undefined
    const value = this.raw[key] as JsonValue
    if (this.#members.declared && value === null) return undefined
    return this.#members.adapter(key)?.(value)
  }

  keys(): Iterable<Value> {
    return memberNames(this.raw).map((key) => (this.#members.declared ? (escapeName(key) ?? key) : key))
  }

  /**
   * As on kube-apiserver, unspecified members are compared as JSON and ignored when the other object lacks them, but
   * comparing them with a map without a schema is an error. A null property never equals a property of an object with a
   * schema.
   */
  override equalMembers(other: MapValue, { equal, chargeWork }: MemberComparison): boolean | ErrorValue {
    for (const key of memberNames(this.raw)) {
      const value = this.raw[key] as JsonValue
      const adapt = this.#members.adapter(key)
      if (adapt === undefined) {
        if (!(other instanceof SchemaMap)) return notComparable
        const theirs = own(other.raw, key)
        if (theirs !== undefined && !sameJson(value, theirs, chargeWork)) return false
        continue
      }
      const theirs = other instanceof SchemaMap ? other.#member(key) : other.field(key)
      if (theirs === undefined) return false
      const found = equal(adapt(value), theirs)
      if (found !== true) return found
    }
    return true
  }
}

const notComparable = new ErrorValue('no such overload')

/** Valid list types; an empty one counts as absent. */
const listTypes: ReadonlySet<string> = new Set(['', 'atomic', 'set', 'map'])

function listAdapter(schema: JsonObject): ValueAdapter {
  const items = own(schema, 'items')
  const adapt = isJsonObject(items) ? schemaAdapter(items) : openAdapter
  const type = own(schema, 'x-kubernetes-list-type')
  const wrong = new ErrorValue('invalid data, expected an array for the provided schema with type=array')
  const keys = own(schema, 'x-kubernetes-list-map-keys')
  if (typeof type === 'string' && !listTypes.has(type)) {
    const unknown = new ErrorValue(`invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got ${type}`)
    return (raw) => (Array.isArray(raw) ? unknown : wrong)
  }
  const listType = type === 'set' || type === 'map' ? type : undefined
  const names = listType === 'map' && Array.isArray(keys) ? keys.map((key) => escapeName(String(key)) ?? String(key)) : []
  return (raw) => (Array.isArray(raw) ? new SchemaList(raw, adapt, { listType, names }) : wrong)
}

/** A list of a schema; sets and lists with keys compare regardless of order. */
export class SchemaList extends ListValue {
  readonly #raw: readonly JsonValue[]
  readonly #adapt: ValueAdapter
  readonly #names: readonly string[]
  override readonly listType: 'set' | 'map' | undefined
  override readonly isTyped = true

  constructor(
    raw: readonly JsonValue[],
    adapt: ValueAdapter,
    { listType, names }: { readonly listType: 'set' | 'map' | undefined; readonly names: readonly string[] },
  ) {
    super()
    this.#raw = raw
    this.#adapt = adapt
    this.#names = names
    this.listType = listType
  }

  get size(): number {
    return this.#raw.length
  }

  at(index: number): Value {
    return this.#adapt(this.#raw[index] as JsonValue)
  }

  /**
   * As on kube-apiserver, keys are looked up in the JSON under their escaped names, whether or not the schema of the items
   * describes them.
   */
  override keyOf(item: Value): string | undefined {
    if (!(item instanceof RawMap)) return undefined
    const texts: string[] = []
    for (const name of this.#names) {
      const value = own(item.raw, name) ?? null
      if (typeof value === 'object' && value !== null) return undefined
      texts.push(`${typeof value} ${String(value)}`)
    }
    return JSON.stringify(texts)
  }
}

function textAdapter(format: JsonValue | undefined): ValueAdapter {
  const read = format === 'byte' ? parseSchemaBytes : format === 'duration' ? parseSchemaDuration : undefined
  const parse = format === 'date' || format === 'date-time' ? parseSchemaTimestamp : read
  if (parse === undefined) return (raw) => (typeof raw === 'string' ? raw : unexpected('string', raw))
  return (raw) => (typeof raw === 'string' ? parse(raw) : unexpected('string', raw))
}

function parseSchemaBytes(text: string): Value {
  try {
    return base64ToBytes(text)
  } catch {
    return new ErrorValue('Invalid byte formatted string: illegal base64 data')
  }
}
