import { declare, type FunctionDeclaration, overload } from '../values/declarations.ts'
import { MemberSet } from '../values/equality.ts'
import type { Meter } from '../values/meter.ts'
import { boolType, listOf, param } from '../values/types.ts'
import { itemsOf, type ListValue } from '../values/values.ts'
import type { Library } from './library.ts'

/** The sets library. */

const t = listOf(param('T'))

function setOf(list: ListValue, meter: Meter): MemberSet {
  const set = new MemberSet(meter)
  for (const item of itemsOf(list)) set.add(item)
  return set
}

function contains(meter: Meter, list: ListValue, sublist: ListValue): boolean {
  const set = setOf(list, meter)
  for (const item of itemsOf(sublist)) if (!set.has(item)) return false
  return true
}

function intersects(meter: Meter, a: ListValue, b: ListValue): boolean {
  const set = setOf(a, meter)
  for (const item of itemsOf(b)) if (set.has(item)) return true
  return false
}

const functions: readonly FunctionDeclaration[] = [
  declare('sets.contains', overload('list_sets_contains_list', [t, t], boolType, contains)),
  declare(
    'sets.equivalent',
    overload(
      'list_sets_equivalent_list',
      [t, t],
      boolType,
      (meter: Meter, a: ListValue, b: ListValue) => contains(meter, a, b) && contains(meter, b, a),
    ),
  ),
  declare('sets.intersects', overload('list_sets_intersects_list', [t, t], boolType, intersects)),
]

export const sets: Library = { name: 'sets', functions }
