import {
  declare,
  type FunctionDeclaration,
  type Implementation,
  method,
  type Overload,
  overload,
} from '../values/declarations.ts'
import { compare, equal, measured, numeric } from '../values/equality.ts'
import type { Meter } from '../values/meter.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  intType,
  listOf,
  mapOf,
  param,
  stringType,
  type Type,
  timestampType,
  uintType,
} from '../values/types.ts'
import { ErrorValue, itemsOf, type ListValue, type MapValue, type Value } from '../values/values.ts'
import { arithmetic } from './arithmetic.ts'

/** Operators and standard functions. */

const a = param('A')
const b = param('B')

const noOverload = new ErrorValue('no such overload')

/** Placeholder: the planner implements these operators, because not every argument is evaluated. */
const unused: Implementation = () => noOverload

const scalars: readonly (readonly [string, Type])[] = [
  ['bool', boolType],
  ['int64', intType],
  ['uint64', uintType],
  ['double', doubleType],
  ['string', stringType],
  ['bytes', bytesType],
  ['timestamp', timestampType],
  ['duration', durationType],
]

/** The mixed overloads by numeric type: the other types that a number can be compared with. */
const mixed: Readonly<Record<string, readonly (readonly [string, Type])[]>> = {
  int64: [
    ['double', doubleType],
    ['uint64', uintType],
  ],
  uint64: [
    ['double', doubleType],
    ['int64', intType],
  ],
  double: [
    ['int64', intType],
    ['uint64', uintType],
  ],
}

function relation(name: string, word: string, holds: (order: number) => boolean): FunctionDeclaration {
  const run: Implementation = (meter: Meter, left: Value, right: Value) => {
    const order = compare(left, right, meter)
    return typeof order === 'number' ? holds(order) : order
  }
  // Mixed overloads follow the overloads of one type.
  const withMixed = scalars.flatMap(([type, of]) => [
    overload(`${word}_${type}`, [of, of], boolType, run),
    ...(mixed[type] ?? []).map(([other, second]) => overload(`${word}_${type}_${other}`, [of, second], boolType, run)),
  ])
  return declare(name, ...withMixed)
}

/** Item of a list by an integral index of any numeric type. */
export function itemAt(list: ListValue, index: Value): Value {
  const number = numeric(index)
  if (number === undefined) return new ErrorValue(`unsupported index type in list`)
  const at = Number(number)
  if (!Number.isInteger(at)) return new ErrorValue(`unsupported index value ${at} in list`)
  return at < 0 || at >= list.size ? new ErrorValue(`index out of bounds: ${number}`) : list.at(at)
}

export function entryOf(map: MapValue, key: Value): Value {
  const found = map.get(key)
  return found === undefined ? new ErrorValue(`no such key: ${shownKey(key)}`) : found
}

export function shownKey(key: Value): string {
  return String(numeric(key) ?? key)
}

/** Whether a list contains a value. */
export function holds(value: Value, list: ListValue, meter: Meter): Value {
  let error: ErrorValue | undefined
  for (const item of itemsOf(list)) {
    if (item instanceof ErrorValue) error ??= item
    else if (equal(value, item, meter) === true) return true
  }
  return error ?? false
}

function sizes(): readonly Overload[] {
  const run: Implementation = (meter: Meter, value: Value) => measured(value, meter)
  const sized: readonly (readonly [string, Type])[] = [
    ['bytes', bytesType],
    ['list', listOf(a)],
    ['map', mapOf(a, b)],
    ['string', stringType],
  ]
  return sized.flatMap(([name, type]) => [
    overload(`size_${name}`, [type], intType, run),
    method(`${name}_size`, [type], intType, run),
  ])
}

const text = [stringType, stringType] as const

export const operators: readonly FunctionDeclaration[] = [
  declare('_&&_', overload('logical_and', [boolType, boolType], boolType, unused)),
  declare('_||_', overload('logical_or', [boolType, boolType], boolType, unused)),
  declare('_?_:_', overload('conditional', [boolType, a, a], a, unused)),
  declare('@not_strictly_false', overload('not_strictly_false', [boolType], boolType, unused)),
  declare(
    '!_',
    overload('logical_not', [boolType], boolType, (_: Meter, value: boolean) => !value),
  ),
  declare(
    '_==_',
    overload('equals', [a, a], boolType, (meter: Meter, left: Value, right: Value) => equal(left, right, meter)),
  ),
  declare(
    '_!=_',
    // As in kube-apiserver, values that cannot be compared are unequal.
    overload('not_equals', [a, a], boolType, (meter: Meter, left: Value, right: Value) => equal(left, right, meter) !== true),
  ),
  relation('_<_', 'less', (order) => order < 0),
  relation('_<=_', 'less_equals', (order) => order <= 0),
  relation('_>_', 'greater', (order) => order > 0),
  relation('_>=_', 'greater_equals', (order) => order >= 0),
  ...arithmetic,
  declare(
    '_[_]',
    overload('index_list', [listOf(a), intType], a, (_: Meter, list: ListValue, index: Value) => itemAt(list, index)),
    overload('index_map', [mapOf(a, b), a], b, (_: Meter, map: MapValue, key: Value) => entryOf(map, key)),
  ),
  declare(
    '@in',
    overload('in_list', [a, listOf(a)], boolType, (meter: Meter, value: Value, list: ListValue) => holds(value, list, meter)),
    overload('in_map', [a, mapOf(a, b)], boolType, (_: Meter, key: Value, map: MapValue) => {
      const value = map.get(key)
      // Searching for a value that violates its schema is an error, too.
      return value instanceof ErrorValue ? value : value !== undefined
    }),
  ),
  declare('size', ...sizes()),
  declare(
    'contains',
    method('contains_string', text, boolType, (meter: Meter, whole: string, part: string) => {
      meter.chargeWork(1 + (whole.length >> 4))
      return whole.includes(part)
    }),
  ),
  declare(
    'startsWith',
    method('starts_with_string', text, boolType, (_: Meter, whole: string, part: string) => whole.startsWith(part)),
  ),
  declare(
    'endsWith',
    method('ends_with_string', text, boolType, (_: Meter, whole: string, part: string) => whole.endsWith(part)),
  ),
]
