import { declare, type FunctionDeclaration, type Implementation, type Overload, overload } from '../values/declarations.ts'
import { MemberSet } from '../values/equality.ts'
import type { Meter } from '../values/meter.ts'
import {
  bytesType,
  doubleType,
  durationType,
  intType,
  listOf,
  param,
  stringType,
  type Type,
  timestampType,
  uintType,
} from '../values/types.ts'
import {
  ArrayList,
  checkedInt,
  checkedUint,
  Double,
  Duration,
  ErrorValue,
  itemsOf,
  ListValue,
  normalizeInt,
  Timestamp,
  type Uint,
  type Value,
} from '../values/values.ts'

/** The operators `+ - * / %` and negation. */

type Int = number | bigint

export const divisionByZero = new ErrorValue('division by zero')
export const modulusByZero = new ErrorValue('modulus by zero')

const ints: Readonly<Record<string, (a: Int, b: Int) => Value>> = {
  add: (a, b) => {
    const sum = typeof a === 'number' && typeof b === 'number' ? a + b : Number.NaN
    return Number.isSafeInteger(sum) ? sum : checkedInt(BigInt(a) + BigInt(b))
  },
  subtract: (a, b) => {
    const difference = typeof a === 'number' && typeof b === 'number' ? a - b : Number.NaN
    return Number.isSafeInteger(difference) ? difference : checkedInt(BigInt(a) - BigInt(b))
  },
  multiply: (a, b) => {
    const product = typeof a === 'number' && typeof b === 'number' ? a * b : Number.NaN
    return Number.isSafeInteger(product) ? product + 0 : checkedInt(BigInt(a) * BigInt(b))
  },
  divide: (a, b) => {
    if (b === 0) return divisionByZero
    return typeof a === 'number' && typeof b === 'number' ? Math.trunc(a / b) + 0 : checkedInt(BigInt(a) / BigInt(b))
  },
  modulo: (a, b) => {
    if (b === 0) return modulusByZero
    return typeof a === 'number' && typeof b === 'number' ? (a % b) + 0 : normalizeInt(BigInt(a) % BigInt(b))
  },
}

const uints: Readonly<Record<string, (a: bigint, b: bigint) => Value>> = {
  add: (a, b) => checkedUint(a + b),
  subtract: (a, b) => checkedUint(a - b),
  multiply: (a, b) => checkedUint(a * b),
  divide: (a, b) => (b === 0n ? divisionByZero : checkedUint(a / b)),
  modulo: (a, b) => (b === 0n ? modulusByZero : checkedUint(a % b)),
}

const doubles: Readonly<Record<string, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  subtract: (a, b) => a - b,
  multiply: (a, b) => a * b,
  divide: (a, b) => a / b,
}

/** The overloads for numbers; of one type only, where other overloads stand in between. */
function numberOverloads(word: string, only?: string): readonly Overload[] {
  const list: Overload[] = []
  const of = (type: Type, name: string, run: Implementation) => {
    if (only === undefined || name === only) list.push(overload(`${word}_${name}`, [type, type], type, run))
  }
  const int = ints[word]
  const uint = uints[word]
  const double = doubles[word]
  if (double !== undefined) {
    of(doubleType, 'double', (_: Meter, a: Double, b: Double) => new Double(double(a.value, b.value)))
  }
  if (int !== undefined) of(intType, 'int64', (_: Meter, a: Int, b: Int) => int(a, b))
  if (uint !== undefined) of(uintType, 'uint64', (_: Meter, a: Uint, b: Uint) => uint(a.value, b.value))
  return list
}

const minMoment = -62135596800n * 1_000_000_000n
const maxMoment = 253402300800n * 1_000_000_000n - 1n
const maxSpan = 2n ** 63n - 1n

export const timestampOverflow = new ErrorValue('timestamp overflow')
const durationOverflow = new ErrorValue('duration overflow')

/** Returns a timestamp, or an error outside of the years 1 to 9999. */
export function checkedTimestamp(nanos: bigint, offset = 0): Value {
  return nanos < minMoment || nanos > maxMoment ? timestampOverflow : new Timestamp(nanos, offset)
}

/** Returns a duration, or an error beyond 64 bits of nanoseconds. */
export function checkedDuration(nanos: bigint): Value {
  return nanos > maxSpan || nanos < -maxSpan - 1n ? durationOverflow : new Duration(nanos)
}

/** Concatenates lists. For a set or a list with keys, items of the second list are merged into the first. */
function concatLists(meter: Meter, a: ListValue, b: ListValue): Value {
  meter.chargeWork(a.size + b.size)
  if (a.listType === 'set') {
    const have = new MemberSet(meter)
    const items = [...itemsOf(a)]
    for (const item of items) have.add(item)
    for (const item of itemsOf(b)) {
      if (have.has(item)) continue
      have.add(item)
      items.push(item)
    }
    return new UnorderedList(items, a)
  }
  const keyOf = a.keyOf?.bind(a)
  if (a.listType !== 'map' || keyOf === undefined) return new Concatenation(a, b)
  const items = [...itemsOf(a)]
  const indices = new Map(items.map((item, index) => [keyOf(item), index]))
  for (const item of itemsOf(b)) {
    const key = keyOf(item)
    const index = key === undefined ? undefined : indices.get(key)
    if (index === undefined) items.push(item)
    else items[index] = item
  }
  return new UnorderedList(items, a)
}

/** The items of a concatenated set or keyed list, with the equality of that list. */
class UnorderedList extends ArrayList {
  override readonly listType: 'set' | 'map' | undefined
  readonly #like: ListValue

  constructor(items: readonly Value[], like: ListValue) {
    super(items)
    this.listType = like.listType
    this.#like = like instanceof UnorderedList ? like.#like : like
  }

  override keyOf(item: Value): string | undefined {
    return this.#like.keyOf?.(item)
  }
}

/** Two lists presented as one; long chains are copied. */
class Concatenation extends ListValue {
  readonly #first: ListValue
  readonly #second: ListValue
  readonly #split: number
  readonly size: number
  readonly depth: number

  constructor(first: ListValue, second: ListValue) {
    super()
    const depth = Math.max(depthOf(first), depthOf(second)) + 1
    this.#first = depth > maxChain ? new ArrayList([...itemsOf(first)]) : first
    this.#second = second
    this.#split = first.size
    this.size = first.size + second.size
    this.depth = depth > maxChain ? 1 : depth
  }

  at(index: number): Value {
    return index < this.#split ? this.#first.at(index) : this.#second.at(index - this.#split)
  }
}

const maxChain = 20

function depthOf(list: ListValue): number {
  return list instanceof Concatenation ? list.depth : 0
}

const a = param('A')

export const arithmetic: readonly FunctionDeclaration[] = [
  declare(
    '_+_',
    overload('add_bytes', [bytesType, bytesType], bytesType, (meter: Meter, x: Uint8Array, y: Uint8Array) => {
      meter.chargeWork(1 + ((x.length + y.length) >> 4))
      const sum = new Uint8Array(x.length + y.length)
      sum.set(x)
      sum.set(y, x.length)
      return sum
    }),
    ...numberOverloads('add', 'double'),
    overload('add_duration_duration', [durationType, durationType], durationType, (_: Meter, x: Duration, y: Duration) =>
      checkedDuration(x.nanos + y.nanos),
    ),
    overload('add_duration_timestamp', [durationType, timestampType], timestampType, (_: Meter, x: Duration, y: Timestamp) =>
      checkedTimestamp(x.nanos + y.nanos, y.offset),
    ),
    overload('add_timestamp_duration', [timestampType, durationType], timestampType, (_: Meter, x: Timestamp, y: Duration) =>
      checkedTimestamp(x.nanos + y.nanos, x.offset),
    ),
    ...numberOverloads('add', 'int64'),
    overload('add_list', [listOf(a), listOf(a)], listOf(a), concatLists),
    overload('add_string', [stringType, stringType], stringType, (meter: Meter, x: string, y: string) => {
      meter.chargeWork(1 + ((x.length + y.length) >> 4))
      return x + y
    }),
    ...numberOverloads('add', 'uint64'),
  ),
  declare(
    '_-_',
    ...numberOverloads('subtract', 'double'),
    overload('subtract_duration_duration', [durationType, durationType], durationType, (_: Meter, x: Duration, y: Duration) =>
      checkedDuration(x.nanos - y.nanos),
    ),
    ...numberOverloads('subtract', 'int64'),
    overload('subtract_timestamp_duration', [timestampType, durationType], timestampType, (_: Meter, x: Timestamp, y: Duration) =>
      checkedTimestamp(x.nanos - y.nanos, x.offset),
    ),
    overload(
      'subtract_timestamp_timestamp',
      [timestampType, timestampType],
      durationType,
      (_: Meter, x: Timestamp, y: Timestamp) => checkedDuration(x.nanos - y.nanos),
    ),
    ...numberOverloads('subtract', 'uint64'),
  ),
  declare('_*_', ...numberOverloads('multiply')),
  declare('_/_', ...numberOverloads('divide')),
  declare('_%_', ...numberOverloads('modulo')),
  declare(
    '-_',
    overload('negate_double', [doubleType], doubleType, (_: Meter, x: Double) => new Double(-x.value)),
    overload('negate_int64', [intType], intType, (_: Meter, x: Int) => (x === 0 ? 0 : checkedInt(-BigInt(x)))),
  ),
]
