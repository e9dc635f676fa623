import type { OpaqueType, Type } from './types.ts'

/**
 * Runtime values.
 *
 * Integers are numbers, or bigints outside of the safe range; doubles and unsigned integers are objects, so that every value has a
 * distinguishable type.
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Double
  | Uint
  | Uint8Array
  | Timestamp
  | Duration
  | ListValue
  | MapValue
  | TypeValue
  | Optional
  | OpaqueValue
  | ErrorValue

export class Double {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
}

export class Uint {
  readonly value: bigint
  constructor(value: bigint) {
    this.value = value
  }
}

export class Timestamp {
  /** Nanoseconds since the epoch. */
  readonly nanos: bigint
  /** Offset of the time zone in seconds east of UTC. Used for printing; equality and order ignore it. */
  readonly offset: number
  constructor(nanos: bigint, offset = 0) {
    this.nanos = nanos
    this.offset = offset
  }
}

export class Duration {
  readonly nanos: bigint
  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

/** A list; items may be created on access. */
export abstract class ListValue {
  abstract readonly size: number
  abstract at(index: number): Value
  /** List type of the schema; determines equality. */
  readonly listType: 'set' | 'map' | undefined = undefined
  /** Whether comparison with a value that is neither a list nor null is an error, as for lists with a schema. */
  readonly isTyped: boolean = false
  /** Returns the identity of an item of a keyed list; `undefined` for an item that equals no other. */
  keyOf?(item: Value): string | undefined
}

/** All items of a list. */
export function* itemsOf(list: ListValue): Generator<Value> {
  for (let i = 0; i < list.size; i++) yield list.at(i)
}

/**
 * A list backed by an array.
 *
 * @example
 * import { ArrayList, toJson } from '@krmkit/cel/values'
 * toJson(new ArrayList(['a', 'b'])) // [ 'a', 'b' ]
 */
export class ArrayList extends ListValue {
  readonly items: readonly Value[]
  constructor(items: readonly Value[]) {
    super()
    this.items = items
  }
  get size(): number {
    return this.items.length
  }
  at(index: number): Value {
    return this.items[index] as Value
  }
}

/** Compares the members of maps. */
export interface MemberComparison {
  equal(a: Value, b: Value): boolean | ErrorValue
  chargeWork(steps: number): void
}

/** A map, or an object with declared members. */
export abstract class MapValue {
  abstract readonly size: number
  /** `undefined` for an absent key. */
  abstract get(key: Value): Value | undefined
  /** A member by its expression name. */
  abstract field(name: string): Value | undefined
  abstract keys(): Iterable<Value>
  /** Type name, for objects with declared members. */
  readonly structName: string | undefined = undefined
  /** Compares with a map of the same size; for maps whose members depend on a schema. */
  equalMembers?(other: MapValue, comparison: MemberComparison): boolean | ErrorValue
}

/** Key of a value in a JavaScript map; 1, 1u and 1.0 are the same key. */
export function mapKey(value: Value): unknown {
  if (value instanceof Uint) return normalizeInt(value.value)
  if (value instanceof Double) return Number.isSafeInteger(value.value) ? value.value : `double ${value.value}`
  if (typeof value === 'string') return `s${value}`
  if (value instanceof Timestamp) return `time ${value.nanos} ${value.offset}`
  return value instanceof Duration ? `duration ${value.nanos}` : value
}

/** A map backed by entries. */
export class LiteralMap extends MapValue {
  readonly entries: ReadonlyMap<unknown, readonly [Value, Value]>
  constructor(entries: ReadonlyMap<unknown, readonly [Value, Value]>) {
    super()
    this.entries = entries
  }
  get size(): number {
    return this.entries.size
  }
  get(key: Value): Value | undefined {
    return this.entries.get(mapKey(key))?.[1]
  }
  field(name: string): Value | undefined {
    return this.entries.get(`s${name}`)?.[1]
  }
  *keys(): Generator<Value> {
    for (const [key] of this.entries.values()) yield key
  }
}

/**
 * An object whose members are computed on access.
 *
 * @example
 * import { ComputedMap } from '@krmkit/cel/values'
 * const point = new ComputedMap('Point', ['x'], (name) => (name === 'x' ? 1 : undefined))
 * point.get('x') // 1
 */
export class ComputedMap extends MapValue {
  override readonly structName: string
  readonly #names: readonly string[]
  readonly #member: (name: string) => Value | undefined

  constructor(structName: string, names: readonly string[], member: (name: string) => Value | undefined) {
    super()
    this.structName = structName
    this.#names = names
    this.#member = member
  }
  get size(): number {
    return this.#names.length
  }
  get(key: Value): Value | undefined {
    return typeof key === 'string' ? this.#member(key) : undefined
  }
  field(name: string): Value | undefined {
    return this.#member(name)
  }
  keys(): Iterable<Value> {
    return this.#names
  }
}

/** An object created by an expression, with the members in the order of the expression. */
export class MessageValue extends MapValue {
  override readonly structName: string
  readonly members: ReadonlyMap<string, Value>

  constructor(structName: string, members: ReadonlyMap<string, Value>) {
    super()
    this.structName = structName
    this.members = members
  }
  get size(): number {
    return this.members.size
  }
  get(key: Value): Value | undefined {
    return typeof key === 'string' ? this.members.get(key) : undefined
  }
  field(name: string): Value | undefined {
    return this.members.get(name)
  }
  keys(): Iterable<Value> {
    return this.members.keys()
  }
}

/** Creates a map from its entries. */
export function literalMap(entries: Iterable<readonly [Value, Value]>): LiteralMap {
  return new LiteralMap(new Map([...entries].map((entry) => [mapKey(entry[0]), entry])))
}

export class TypeValue {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

export class Optional {
  /** `undefined` when empty. */
  readonly value: Value | undefined
  constructor(value: Value | undefined) {
    this.value = value
  }
}

/** The empty optional. */
export const optionalNone = new Optional(undefined)

/** A value that is accessible only to functions. */
export abstract class OpaqueValue {
  abstract readonly type: OpaqueType
  /** Size for cost computation. */
  readonly size: number = 1
  abstract equals(other: OpaqueValue): boolean
}

/**
 * A runtime error; propagates through everything except `&&`, `||` and `?:`.
 *
 * @example
 * import { compileExpression, Environment } from '@krmkit/cel'
 * import { ErrorValue } from '@krmkit/cel/values'
 * const compiled = compileExpression(Environment.ofRelease('1.33'), '1 / 0')
 * if ('problem' in compiled) throw new Error(compiled.problem)
 * const { value } = compiled.program.evaluate({})
 * value instanceof ErrorValue && value.message // 'division by zero'
 */
export class ErrorValue {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

const maxInt = 2n ** 63n - 1n
const minInt = -(2n ** 63n)
export const maxUint = 2n ** 64n - 1n

/** Canonical form of an integer. */
export function normalizeInt(value: bigint): number | bigint {
  return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value
}

export const intOverflow = new ErrorValue('integer overflow')
export const uintOverflow = new ErrorValue('unsigned integer overflow')

/** Returns the integer, or an error if it exceeds 64 bits. */
export function checkedInt(value: bigint): Value {
  return value > maxInt || value < minInt ? intOverflow : normalizeInt(value)
}

export function checkedUint(value: bigint): Value {
  return value > maxUint || value < 0n ? uintOverflow : new Uint(value)
}

export function isInt(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

/** Number of characters of a text. */
export function charCount(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const next = text.charCodeAt(i + 1)
      if (next >= 0xdc00 && next <= 0xdfff) {
        count--
        i++
      }
    }
  }
  return count
}

/** Result of `size()`; 1 for values without a size. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return charCount(value)
  if (value instanceof ListValue || value instanceof MapValue || value instanceof OpaqueValue) return value.size
  return value instanceof Uint8Array ? value.length : 1
}

/** Type name of a value. */
export function typeNameOf(value: Value): string {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'number':
    case 'bigint':
      return 'int'
    case 'boolean':
      return 'bool'
  }
  if (value === null) return 'null_type'
  if (value instanceof MapValue) return value.structName ?? 'map'
  if (value instanceof ListValue) return 'list'
  if (value instanceof Double) return 'double'
  if (value instanceof Uint) return 'uint'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp'
  if (value instanceof Duration) return 'google.protobuf.Duration'
  if (value instanceof TypeValue) return 'type'
  if (value instanceof Optional) return 'optional_type'
  return value instanceof OpaqueValue ? value.type.name : 'error'
}

/** Returns the Go type name of a value, for messages of kube-apiserver that contain it. */
export function goTypeOf(value: Value): string {
  const name = typeNameOf(value)
  return goTypes[name] ?? name
}

/** Go types of values, by the names of their types. */
const goTypes: Readonly<Record<string, string>> = {
  null_type: 'types.Null',
  bool: 'types.Bool',
  int: 'types.Int',
  uint: 'types.Uint',
  double: 'types.Double',
  string: 'types.String',
  bytes: 'types.Bytes',
  'google.protobuf.Timestamp': 'types.Timestamp',
  'google.protobuf.Duration': 'types.Duration',
  list: '*types.baseList',
  map: '*types.baseMap',
  type: '*types.Type',
  optional_type: '*types.Optional',
  'kubernetes.Quantity': 'cel.Quantity',
  'kubernetes.URL': 'cel.URL',
  'kubernetes.NamedFormat': 'cel.Format',
  'kubernetes.Semver': 'cel.Semver',
  'net.IP': 'cel.IP',
  'net.CIDR': 'cel.CIDR',
}

/** Whether a value has a type. Only the first item of a list is checked. */
export function fitsType(value: Value, type: Type): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'any':
    case 'param':
      return true
    case 'bool':
      return typeof value === 'boolean'
    case 'int':
      return isInt(value)
    case 'string':
      return typeof value === 'string'
    case 'double':
      return value instanceof Double
    case 'uint':
      return value instanceof Uint
    case 'bytes':
      return value instanceof Uint8Array
    case 'null':
      return value === null
    case 'timestamp':
      return value instanceof Timestamp
    case 'duration':
      return value instanceof Duration
    case 'list':
      return value instanceof ListValue && (value.size === 0 || fitsType(value.at(0), type.elem))
    case 'map':
      return value instanceof MapValue && value.structName === undefined
    case 'struct':
      return value instanceof MapValue
    case 'type':
      return value instanceof TypeValue
    case 'opaque':
      return type.name === 'optional_type'
        ? value instanceof Optional
        : value instanceof OpaqueValue && value.type.name === type.name
    default:
      return false
  }
}
