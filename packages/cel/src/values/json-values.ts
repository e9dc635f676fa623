import { memberNames } from '@krmkit/base/work'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { opaqueOf } from './types.ts'
import { Double, ListValue, MapValue, OpaqueValue, type Value } from './values.ts'

/** JSON as CEL values, without a schema. */

/**
 * Converts JSON to a CEL value, without a schema: integers become int, other numbers double.
 *
 * @example
 * import { fromJson, toJson } from '@krmkit/cel/values'
 * toJson(fromJson({ n: 5, names: ['a'] })) // { n: 5, names: [ 'a' ] }
 */
export function fromJson(value: unknown): Value {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return value
    case 'number':
      return Number.isSafeInteger(value) ? value : new Double(value)
    case 'object':
      if (value === null) return null
      return Array.isArray(value) ? new JsonList(value) : new JsonMap(value as JsonObject)
    default:
      return null
  }
}

export class JsonList extends ListValue {
  readonly raw: readonly unknown[]
  constructor(raw: readonly unknown[]) {
    super()
    this.raw = raw
  }
  get size(): number {
    return this.raw.length
  }
  at(index: number): Value {
    return fromJson(this.raw[index])
  }
}

/** A map backed by a JSON object. */
export abstract class RawMap extends MapValue {
  readonly raw: JsonObject
  #size = -1

  constructor(raw: JsonObject) {
    super()
    this.raw = raw
  }

  get size(): number {
    if (this.#size < 0) this.#size = memberNames(this.raw).length
    return this.#size
  }

  get(key: Value): Value | undefined {
    return typeof key === 'string' ? this.field(key) : undefined
  }
}

export class JsonMap extends RawMap {
  field(name: string): Value | undefined {
    return Object.hasOwn(this.raw, name) ? fromJson(this.raw[name]) : undefined
  }

  keys(): Iterable<Value> {
    return memberNames(this.raw)
  }
}

const preservedType = opaqueOf('unknown')

/**
 * JSON described by a schema without a type that preserves unknown fields. Expressions cannot access it, but compare it as
 * part of the enclosing object.
 */
export class PreservedJson extends OpaqueValue {
  readonly type = preservedType
  readonly raw: JsonValue

  constructor(raw: JsonValue) {
    super()
    this.raw = raw
  }

  equals(other: Value, chargeWork: (steps: number) => void = () => undefined): boolean {
    const theirs =
      other instanceof PreservedJson || other instanceof JsonList || other instanceof JsonMap ? other.raw : toJson(other)
    return sameJson(this.raw, theirs as JsonValue, chargeWork)
  }
}

/**
 * Whether two JSON values are equal; the order of members does not count.
 *
 * @param chargeWork called for each compared value
 * @example
 * import { sameJson } from '@krmkit/cel/values'
 * sameJson({ a: 1, b: [2] }, { b: [2], a: 1 }, () => undefined) // true
 */
export function sameJson(a: JsonValue, b: JsonValue, chargeWork: (steps: number) => void): boolean {
  chargeWork(1)
  if (a === b) return true
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameJson(item, b[i] as JsonValue, chargeWork))
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const keys = memberNames(a)
  return (
    keys.length === memberNames(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key] as JsonValue, b[key] as JsonValue, chargeWork))
  )
}

/** Converts lists, maps and scalars to JSON; `undefined` for values without a JSON form. @see {@link fromJson} */
export function toJson(value: Value): unknown {
  if (value instanceof ListValue) return Array.from({ length: value.size }, (_, index) => toJson(value.at(index)))
  if (value instanceof MapValue) {
    const entries: [string, unknown][] = []
    for (const key of value.keys()) if (typeof key === 'string') entries.push([key, toJson(value.get(key) ?? null)])
    return Object.fromEntries(entries)
  }
  if (value instanceof Double) return value.value
  return value === null || typeof value !== 'object' ? value : undefined
}
