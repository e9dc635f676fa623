import type { Work } from '@krmkit/base/work'
import { declare, type FunctionDeclaration, method, overload } from '../values/declarations.ts'
import type { Meter } from '../values/meter.ts'
import { chargeMatch, chargeSearch } from '../values/patterns.ts'
import { runCall } from '../values/pauses.ts'
import { boolType, intType, listOf, stringType } from '../values/types.ts'
import { ArrayList, ErrorValue, type Value } from '../values/values.ts'
import type { Library } from './library.ts'

/** The regular expression library. */

function matches(meter: Meter, text: string, source: string): Value {
  const pattern = meter.patterns.get(source, meter)
  if (pattern instanceof ErrorValue) return pattern
  chargeMatch(pattern, text, meter)
  return meter.progress === undefined ? pattern.test(text) : runCall(meter, pattern.search(text))
}

/** Searches for up to `limit` matches and returns the result of `read`. */
function search(meter: Meter, [text, source]: readonly [string, string], limit: number, read: (list: string[]) => Value): Value {
  const pattern = meter.patterns.get(source, meter)
  if (pattern instanceof ErrorValue) return new ErrorValue(`Illegal regex: ${pattern.message}`)
  const before = (index: number) => chargeSearch(pattern, text.length - index, meter)
  return runCall(meter, resultOf(pattern.matches(text, { limit, before }), read))
}

function* resultOf(matches: Work<string[]>, read: (list: string[]) => Value): Work<Value> {
  return read(yield* matches)
}

function find(meter: Meter, text: string, source: string): Value {
  return search(meter, [text, source], 1, ([first = '']) => first)
}

function findAll(meter: Meter, text: string, source: string, limit: number | bigint = -1): Value {
  return search(meter, [text, source], limit < 0 ? Number.POSITIVE_INFINITY : Number(limit), (list) => new ArrayList(list))
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
