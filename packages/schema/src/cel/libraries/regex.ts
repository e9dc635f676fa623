import { declare, type FunctionDeclaration, method, overload } from '../declarations.ts'
import type { Meter } from '../meter.ts'
import { chargeMatch, chargeSearch } from '../patterns.ts'
import { boolType, intType, listOf, stringType } from '../types.ts'
import { ArrayList, ErrorValue, type Value } from '../values.ts'
import type { Library } from './library.ts'

/** The regular expression library. */

function matches(meter: Meter, text: string, source: string): Value {
  const pattern = meter.patterns.get(source, meter)
  if (pattern instanceof ErrorValue) return pattern
  chargeMatch(pattern, text, meter)
  return pattern.test(text)
}

function found(meter: Meter, text: string, source: string, limit: number): readonly string[] | ErrorValue {
  const pattern = meter.patterns.get(source, meter)
  if (pattern instanceof ErrorValue) return new ErrorValue(`Illegal regex: ${pattern.message}`)
  return pattern.matches(text, { limit, before: (index) => chargeSearch(pattern, text.length - index, meter) })
}

function find(meter: Meter, text: string, source: string): Value {
  const list = found(meter, text, source, 1)
  return list instanceof ErrorValue ? list : (list[0] ?? '')
}

function findAll(meter: Meter, text: string, source: string, limit: number | bigint = -1): Value {
  const list = found(meter, text, source, limit < 0 ? Number.POSITIVE_INFINITY : Number(limit))
  return list instanceof ErrorValue ? list : new ArrayList(list)
}

const two = [stringType, stringType]

const functions: readonly FunctionDeclaration[] = [
  declare('find', method('string_find_string', two, stringType, find)),
  declare(
    'findAll',
    method('string_find_all_string', two, listOf(stringType), findAll),
    method('string_find_all_string_int', [...two, intType], listOf(stringType), findAll),
  ),
]

/** Standard function. */
export const matching: FunctionDeclaration = declare(
  'matches',
  overload('matches', two, boolType, matches),
  method('matches_string', two, boolType, matches),
)

export const regex: Library = { name: 'regex', functions }
