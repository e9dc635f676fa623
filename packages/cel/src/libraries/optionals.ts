import { optionalMacros } from '../syntax/macros.ts'
import { declare, type FunctionDeclaration, method, overload } from '../values/declarations.ts'
import type { Meter } from '../values/meter.ts'
import { boolType, dynType, intType, listOf, mapOf, optionalOf, param, stringType } from '../values/types.ts'
import {
  ArrayList,
  Double,
  Duration,
  ErrorValue,
  itemsOf,
  ListValue,
  MapValue,
  Optional,
  optionalNone,
  Timestamp,
  typeNameOf,
  Uint,
  type Value,
} from '../values/values.ts'
import type { Library } from './library.ts'

/** The optionals library. */

const v = param('V')
const k = param('K')
const optionalV = optionalOf(v)
const nothingThere = new ErrorValue('optional.none() dereference')
const planned = () => new ErrorValue('no such overload')

/** The year 1: the zero time of kube-apiserver. */
const firstMoment = -62_135_596_800n * 1_000_000_000n

/** Whether the value is empty, zero or false. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === '' || value === 0) return true
  // Lists and maps of a schema are never zero values.
  if (value instanceof ListValue) return value.size === 0 && !value.isTyped
  if (value instanceof MapValue) return value.size === 0 && value.equalMembers === undefined
  if (value instanceof Uint8Array) return value.length === 0
  if (value instanceof Double) return value.value === 0
  if (value instanceof Uint) return value.value === 0n
  if (value instanceof Duration) return value.nanos === 0n
  return value instanceof Timestamp && value.nanos === firstMoment
}

function itemAt(list: ListValue, index: number): Value {
  if (list.size === 0) return optionalNone
  const item = list.at(index)
  return item instanceof ErrorValue ? item : new Optional(item)
}

/** Returns the values of a list of optionals, omitting empty ones. */
function unwrap(meter: Meter, list: ListValue): Value {
  const values: Value[] = []
  for (const item of itemsOf(list)) {
    meter.chargeWork(1)
    if (item instanceof ErrorValue) return item
    if (!(item instanceof Optional)) return new ErrorValue(`value ${typeNameOf(item)} is not optional`)
    if (item.value !== undefined) values.push(item.value)
  }
  return new ArrayList(values)
}

const functions: readonly FunctionDeclaration[] = [
  declare(
    'optional.of',
    overload('optional_of', [v], optionalV, (_: Meter, value: Value) => new Optional(value)),
  ),
  declare(
    'optional.ofNonZeroValue',
    overload('optional_ofNonZeroValue', [v], optionalV, (_: Meter, value: Value) =>
      isZero(value) ? optionalNone : new Optional(value),
    ),
  ),
  declare(
    'optional.none',
    overload('optional_none', [], optionalV, () => optionalNone),
  ),
  declare('optional.unwrap', overload('optional_unwrap', [listOf(optionalV)], listOf(v), unwrap)),
  declare('unwrapOpt', method('optional_unwrapOpt', [listOf(optionalV)], listOf(v), unwrap)),
  declare(
    'first',
    method('list_first', [listOf(v)], optionalV, (_: Meter, list: ListValue) => itemAt(list, 0)),
  ),
  declare(
    'last',
    method('list_last', [listOf(v)], optionalV, (_: Meter, list: ListValue) => itemAt(list, list.size - 1)),
  ),
  declare(
    'value',
    method('optional_value', [optionalV], v, (_: Meter, { value }: Optional) => (value === undefined ? nothingThere : value)),
  ),
  declare(
    'hasValue',
    method('optional_hasValue', [optionalV], boolType, (_: Meter, { value }: Optional) => value !== undefined),
  ),
  declare(
    'or',
    method('optional_or_optional', [optionalV, optionalV], optionalV, (_: Meter, first: Optional, second: Optional) =>
      first.value === undefined ? second : first,
    ),
  ),
  declare(
    'orValue',
    method('optional_orValue_value', [optionalV, v], v, (_: Meter, { value }: Optional, other: Value) =>
      value === undefined ? other : value,
    ),
  ),
  declare('_?._', overload('select_optional_field', [dynType, stringType], optionalV, planned)),
  declare(
    '_[?_]',
    overload('list_optindex_optional_int', [listOf(v), intType], optionalV, planned),
    overload('optional_list_optindex_optional_int', [optionalOf(listOf(v)), intType], optionalV, planned),
    overload('map_optindex_optional_value', [mapOf(k, v), k], optionalV, planned),
    overload('optional_map_optindex_optional_value', [optionalOf(mapOf(k, v)), k], optionalV, planned),
  ),
  declare(
    '_[_]',
    overload('optional_list_index_int', [optionalOf(listOf(v)), intType], optionalV, planned),
    overload('optional_map_index_value', [optionalOf(mapOf(k, v)), k], optionalV, planned),
  ),
]

export const optionals: Library = {
  name: 'optional',
  functions,
  macros: optionalMacros,
  types: [['optional_type', optionalOf(v)]],
}
