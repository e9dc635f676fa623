import { compareCodePoints } from '@krmkit/meta/go-text'
import { PreservedJson } from './json-values.ts'
import type { Meter } from './meter.ts'
import {
  charCount,
  Double,
  Duration,
  ErrorValue,
  isInt,
  itemsOf,
  ListValue,
  MapValue,
  OpaqueValue,
  Optional,
  sizeOf,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './values.ts'

/** Equality and ordering of values. */

/** The JavaScript number of a numeric value; `undefined` for other values. */
export function numeric(value: Value): number | bigint | undefined {
  if (isInt(value)) return value
  if (value instanceof Double) return value.value
  return value instanceof Uint ? value.value : undefined
}

/**
 * Numbers of different types are equal if their values are equal; other values of different types are unequal.
 *
 * @returns an error when an opaque value, such as a quantity or URL, is compared with a value of another type, when an
 *   object with unspecified members is compared with a map without a schema, and for values that violate their schema.
 */
export function equal(a: Value, b: Value, meter: Meter): boolean | ErrorValue {
  if (a instanceof ErrorValue) return a
  // Identity implies equality only for scalars: an object with a schema may differ from itself, because null members equal
  // nothing.
  if (a === b && (typeof a !== 'object' || a === null)) return true
  // Only this operand order compares the JSON: a value with a schema on the left never equals preserved JSON on the right.
  if (a instanceof PreservedJson) return a.equals(b, (steps) => meter.chargeWork(steps))
  if (a instanceof OpaqueValue && b !== null) {
    return b instanceof OpaqueValue && a.type.name === b.type.name ? a.equals(b) : notOrdered
  }
  if (typeof a === 'string' || typeof b === 'string') {
    if (typeof a !== 'string' || typeof b !== 'string') return false
    if (a.length === b.length) meter.chargeWork(1 + (a.length >> 6))
    return a === b
  }
  meter.chargeWork(1)
  const x = numeric(a)
  if (x !== undefined) return sameNumber(x, numeric(b), a instanceof Double || b instanceof Double)
  if (a instanceof ListValue) return b instanceof ListValue ? equalLists(a, b, meter) : unequal(a.isTyped, b)
  if (a instanceof MapValue) return b instanceof MapValue ? equalMaps(a, b, meter) : unequal(a.equalMembers !== undefined, b)
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false
    if (a.value === undefined || b.value === undefined) return a.value === b.value
    return equal(a.value, b.value, meter)
  }
  return false
}

/** Objects and lists of a schema cannot be compared with values of other types; comparing them with null gives false. */
function unequal(isTyped: boolean, other: Value): false | ErrorValue {
  return isTyped && other !== null ? notComparable : false
}

const notComparable = new ErrorValue('no such overload')

/** Comparison with a double converts both sides to doubles. */
function sameNumber(a: number | bigint, b: number | bigint | undefined, asDoubles: boolean): boolean {
  if (b === undefined) return false
  // biome-ignore lint/suspicious/noDoubleEquals: numbers and bigints are compared by what they are
  return asDoubles ? Number(a) === Number(b) : a == b
}

function equalLists(a: ListValue, b: ListValue, meter: Meter): boolean | ErrorValue {
  if (a.size !== b.size) return false
  meter.chargeWork(a.size)
  if (a.listType !== undefined) return a.listType === 'set' ? sameMembers(a, b, meter) : sameKeyed(a, b, meter)
  for (let i = 0; i < a.size; i++) {
    const found = equal(a.at(i), b.at(i), meter)
    if (found !== true) return found
  }
  return true
}

/** Sets are unordered. */
function sameMembers(a: ListValue, b: ListValue, meter: Meter): boolean {
  const have = new MemberSet(meter)
  for (const item of itemsOf(a)) have.add(item)
  for (const item of itemsOf(b)) if (!have.has(item)) return false
  return true
}

/** Lists with keys are unordered. */
function sameKeyed(a: ListValue, b: ListValue, meter: Meter): boolean | ErrorValue {
  const keyOf = a.keyOf?.bind(a)
  if (keyOf === undefined) return false
  const items = new Map<string | undefined, Value>()
  for (const item of itemsOf(a)) items.set(keyOf(item), item)
  for (const other of itemsOf(b)) {
    const key = keyOf(other)
    const item = key === undefined ? undefined : items.get(key)
    if (item === undefined) return false
    const found = equal(item, other, meter)
    if (found !== true) return found
  }
  return true
}

function equalMaps(a: MapValue, b: MapValue, meter: Meter): boolean | ErrorValue {
  if (a.size !== b.size || a.structName !== b.structName) return false
  meter.chargeWork(a.size * 2)
  if (a.equalMembers !== undefined)
    return a.equalMembers(b, { equal: (x, y) => equal(x, y, meter), chargeWork: (steps) => meter.chargeWork(steps) })
  for (const key of a.keys()) {
    const mine = a.get(key)
    const other = b.get(key)
    if (mine === undefined || other === undefined) {
      if (mine !== other) return false
      continue
    }
    const found = equal(mine, other, meter)
    if (found !== true) return found
  }
  return true
}

/** A set with constant-time membership for scalars. */
export class MemberSet {
  readonly #meter: Meter
  readonly #scalars = new Set<unknown>()
  readonly #others: Value[] = []

  constructor(meter: Meter) {
    this.#meter = meter
  }

  add(item: Value): void {
    this.#meter.chargeWork(1)
    const key = scalarKey(item)
    if (key === undefined) this.#others.push(item)
    else this.#scalars.add(key)
  }

  has(item: Value): boolean {
    this.#meter.chargeWork(1)
    const key = scalarKey(item)
    if (key !== undefined) return this.#scalars.has(key)
    return this.#others.some((other) => equal(item, other, this.#meter) === true)
  }
}

function scalarKey(value: Value): unknown {
  if (typeof value === 'string') return `s${value}`
  if (typeof value === 'boolean' || value === null || isInt(value)) return value
  if (value instanceof Uint) return value.value <= 9007199254740991n ? Number(value.value) : value.value
  if (value instanceof Double) return Number.isNaN(value.value) ? undefined : value.value
  return undefined
}

/** Membership test for a list of scalars; `undefined` when an item is not a scalar. */
export function scalarMembership(items: readonly Value[]): ((value: Value) => boolean) | undefined {
  const keys = new Set<unknown>()
  for (const item of items) {
    const key = scalarKey(item)
    if (key === undefined) return undefined
    keys.add(key)
  }
  return (value) => {
    const key = scalarKey(value)
    return key !== undefined && keys.has(key)
  }
}

const notOrdered = new ErrorValue('no such overload')
const notANumber = new ErrorValue('NaN values cannot be ordered')

/** Negative, zero or positive; an error for unordered values. */
export function compare(a: Value, b: Value, meter: Meter): number | ErrorValue {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') {
    meter.chargeWork(1 + (Math.min(a.length, b.length) >> 4))
    return compareCodePoints(a, b)
  }
  const x = numeric(a)
  if (x !== undefined) {
    if (Number.isNaN(x)) return notANumber
    const y = numeric(b)
    if (y === undefined) return notOrdered
    if (Number.isNaN(y)) return notANumber
    const doubles = a instanceof Double || b instanceof Double
    const [left, right] = doubles ? [Number(x), Number(y)] : [x, y]
    return left < right ? -1 : left > right ? 1 : 0
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (a instanceof Timestamp && b instanceof Timestamp) return sign(a.nanos - b.nanos)
  if (a instanceof Duration && b instanceof Duration) return sign(a.nanos - b.nanos)
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    meter.chargeWork(1 + (Math.min(a.length, b.length) >> 2))
    return compareBytes(a, b)
  }
  return notOrdered
}

function sign(value: bigint): number {
  return value < 0n ? -1 : value > 0n ? 1 : 0
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return (a[i] as number) - (b[i] as number)
  return a.length - b.length
}

/** Returns the smaller size of two values without counting all characters of a much longer string. */
export function minSize(a: Value, b: Value, meter: Meter): number {
  if (typeof a === 'string' && typeof b === 'string') {
    const [short, long] = a.length <= b.length ? [a, b] : [b, a]
    meter.chargeWork(1 + (short.length >> 4))
    const count = charCount(short)
    return count * 2 <= long.length ? count : Math.min(count, charCount(long))
  }
  return Math.min(measured(a, meter), measured(b, meter))
}

/** `sizeOf`, with the work of counting characters charged. */
export function measured(value: Value, meter: Meter): number {
  if (typeof value === 'string') meter.chargeWork(1 + (value.length >> 4))
  return sizeOf(value)
}
