import { declare, type FunctionDeclaration, method } from '../values/declarations.ts'
import type { Meter } from '../values/meter.ts'
import { boolType, intType, type Type } from '../values/types.ts'

/**
 * The functions `isGreaterThan`, `isLessThan` and `compareTo` of an ordered type. `id` is the prefix of the overload ids.
 */
export function comparisons<T>(id: string, type: Type, compare: (a: T, b: T) => number): FunctionDeclaration[] {
  const args = [type, type]
  return [
    declare(
      'isGreaterThan',
      method(`${id}_is_greater_than`, args, boolType, (_: Meter, a: T, b: T) => compare(a, b) > 0),
    ),
    declare(
      'isLessThan',
      method(`${id}_is_less_than`, args, boolType, (_: Meter, a: T, b: T) => compare(a, b) < 0),
    ),
    declare(
      'compareTo',
      method(`${id}_compare_to`, args, intType, (_: Meter, a: T, b: T) => Math.sign(compare(a, b))),
    ),
  ]
}
