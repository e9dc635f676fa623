import { arithmetic } from '../functions/arithmetic.ts'
import { noOverload } from '../plan/refusals.ts'
import type { Frame, Run } from '../plan/step.ts'
import { declare, type FunctionDeclaration, method, type Overload } from '../values/declarations.ts'
import { compare, equal } from '../values/equality.ts'
import type { Meter } from '../values/meter.ts'
import {
  boolType,
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
import { Double, Duration, ErrorValue, fitsType, itemsOf, type ListValue, Uint, type Value } from '../values/values.ts'
import type { Library } from './library.ts'

/** The lists library. */

const ordered: readonly (readonly [string, Type])[] = [
  ['int', intType],
  ['uint', uintType],
  ['double', doubleType],
  ['bool', boolType],
  ['duration', durationType],
  ['timestamp', timestampType],
  ['string', stringType],
  ['bytes', bytesType],
]

const summable: readonly (readonly [string, Type, Value])[] = [
  ['int', intType, 0],
  ['uint', uintType, new Uint(0n)],
  ['double', doubleType, new Double(0)],
  ['duration', durationType, new Duration(0n)],
]

/** The type of a list is checked by its first item only, which may be null under a nullable schema. */
function startsWithNull(list: ListValue): boolean {
  return list.size > 0 && list.at(0) === null
}

const isSortedRefusal = new ErrorValue('no such overload: isSorted(list)')
const sumRefusal = new ErrorValue('no such overload: sum(list)')

/** Whether an item has an ordered type. As in kube-apiserver, items of different ordered types count as equal. */
function isOrdered(item: Value): boolean {
  return ordered.some(([, type]) => fitsType(item, type))
}

function isSorted(meter: Meter, list: ListValue): Value {
  if (startsWithNull(list)) return isSortedRefusal
  let previous: Value | undefined
  for (const item of itemsOf(list)) {
    if (item instanceof ErrorValue) return item
    if (!isOrdered(item)) return noOverload
    if (previous !== undefined) {
      const order = compare(previous, item, meter)
      if (typeof order === 'number' && order > 0) return false
    }
    previous = item
  }
  return true
}

function extreme(name: string, sign: number): (meter: Meter, list: ListValue) => Value {
  const empty = new ErrorValue(`${name} called on empty list`)
  const refusal = new ErrorValue(`no such overload: ${name}(list)`)
  return (meter, list) => {
    if (startsWithNull(list)) return refusal
    let best: Value | undefined
    for (const item of itemsOf(list)) {
      if (item instanceof ErrorValue) return item
      if (!isOrdered(item)) return noOverload
      if (best === undefined) {
        best = item
        continue
      }
      const order = compare(item, best, meter)
      if (typeof order === 'number' && order * sign > 0) best = item
    }
    return best === undefined ? empty : best
  }
}

const additions = new Map(
  (arithmetic.find(({ name }) => name === '_+_')?.overloads ?? [])
    .filter(({ args: [left, right] }) => left === right)
    .map((each) => [each.args[0], each]),
)

function sumOf(type: Type, zero: Value): (meter: Meter, list: ListValue) => Value {
  const add = (additions.get(type) as Overload).run as unknown as Run
  return (meter, list) => {
    if (startsWithNull(list)) return sumRefusal
    let sum = zero
    for (const item of itemsOf(list)) {
      if (item instanceof ErrorValue) return item
      if (!fitsType(item, type)) return noOverload
      sum = add(meter as Frame, sum, item)
      if (sum instanceof ErrorValue) return sum
    }
    return sum
  }
}

function indexOf(meter: Meter, list: ListValue, value: Value): Value {
  for (let i = 0; i < list.size; i++) if (equal(list.at(i), value, meter) === true) return i
  return -1
}

function lastIndexOf(meter: Meter, list: ListValue, value: Value): Value {
  for (let i = list.size - 1; i >= 0; i--) if (equal(list.at(i), value, meter) === true) return i
  return -1
}

const a = param('A')

const functions: readonly FunctionDeclaration[] = [
  declare(
    'isSorted',
    ...ordered.map(([name, type]) => method(`list_${name}_is_sorted_bool`, [listOf(type)], boolType, isSorted)),
  ),
  declare(
    'sum',
    ...summable.map(([name, type, zero]) => method(`list_${name}_sum_${name}`, [listOf(type)], type, sumOf(type, zero))),
  ),
  declare('max', ...ordered.map(([name, type]) => method(`list_${name}_max_${name}`, [listOf(type)], type, extreme('max', 1)))),
  declare('min', ...ordered.map(([name, type]) => method(`list_${name}_min_${name}`, [listOf(type)], type, extreme('min', -1)))),
  declare('indexOf', method('list_a_index_of_int', [listOf(a), a], intType, indexOf)),
  declare('lastIndexOf', method('list_a_last_index_of_int', [listOf(a), a], intType, lastIndexOf)),
]

export const lists: Library = { name: 'lists', functions }
