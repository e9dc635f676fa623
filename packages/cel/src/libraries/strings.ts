import type { Work } from '@krmkit/base/work'
import { declare, type FunctionDeclaration, method, overload } from '../values/declarations.ts'
import type { Meter } from '../values/meter.ts'
import { runCall } from '../values/pauses.ts'
import { dynType, intType, listOf, stringType } from '../values/types.ts'
import { ArrayList, ErrorValue, itemsOf, type ListValue, type Value } from '../values/values.ts'
import { charactersOf, lowerAscii, quoted, replaceText, splitText, trimmed, upperAscii } from './characters.ts'
import { formatText } from './format-text.ts'
import type { Library } from './library.ts'

/** The strings library. Positions count characters. */

type Int = number | bigint

const outOfRange = (index: Int) => new ErrorValue(`index out of range: ${index}`)

function charAt(_: Meter, text: string, index: Int): Value {
  const chars = charactersOf(text)
  const at = Number(index)
  if (at < 0 || at > chars.length) return outOfRange(index)
  return at === chars.length ? '' : chars.slice(at, at + 1)
}

function indexOf(_: Meter, text: string, part: string, from: Int = 0): Value {
  const chars = charactersOf(text)
  const start = Number(from)
  if (part === '') return start
  if (start < 0) return outOfRange(from)
  return start >= chars.length ? -1 : chars.indexOf(part, start)
}

function lastIndexOf(_: Meter, text: string, part: string, from?: Int): Value {
  const chars = charactersOf(text)
  const start = Number(from ?? chars.length - 1)
  if (part === '') return from === undefined ? chars.length : start
  if (start < 0) return outOfRange(start)
  return start >= chars.length ? -1 : chars.lastIndexOf(part, start)
}

function substring(_: Meter, text: string, start: Int, end?: Int): Value {
  const chars = charactersOf(text)
  const low = Number(start)
  const high = end === undefined ? chars.length : Number(end)
  if (end !== undefined && low > high) return new ErrorValue(`invalid substring range. start: ${start}, end: ${end}`)
  if (low < 0 || low > chars.length) return outOfRange(start)
  return high < 0 || high > chars.length ? outOfRange(end as Int) : chars.slice(low, high)
}

/** Go prints null as the number of its enum value. */
const nullInput = new ErrorValue('join: invalid input: 0')

function join(meter: Meter, list: ListValue, separator?: string): Value {
  if (list.size > 0 && list.at(0) === null)
    return new ErrorValue(`no such overload: join(${separator === undefined ? 'list' : 'list, string'})`)
  const texts: string[] = []
  for (const item of itemsOf(list)) {
    if (item instanceof ErrorValue) return item
    if (item === null) return nullInput
    if (typeof item !== 'string') return new ErrorValue('no such overload')
    chargeResult(meter, item.length)
    texts.push(item)
  }
  chargeResult(meter, (separator ?? '').length * texts.length)
  return texts.join(separator ?? '')
}

/** Charges the length of a result before it is built: the CEL cost does not count it, and building it cannot pause. */
function chargeResult(meter: Meter, length: number): void {
  meter.chargeWork(1 + Math.ceil(length / 2))
}

/** Upper bound of the result length above which occurrences are counted, because the bound would be too inaccurate. */
const longResult = 100_000

function replace(meter: Meter, text: string, part: string, by: string, limit: Int = -1): Value {
  const most = text.length / Math.max(1, part.length) + 1
  const bound = limit < 0 ? most : Math.min(most, Number(limit))
  chargeResult(
    meter,
    by.length * (bound * by.length > longResult && part !== '' ? Math.min(bound, occurrences(text, part)) : bound),
  )
  return runCall(meter, replaceText(text, part, { by, limit: Number(limit) }))
}

function occurrences(text: string, part: string): number {
  let count = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++
  return count
}

function split(meter: Meter, text: string, separator: string, limit: Int = -1): Value {
  return runCall(meter, listOfParts(splitText(text, separator, Number(limit))))
}

function* listOfParts(parts: Work<string[]>): Work<Value> {
  return new ArrayList(yield* parts)
}

const texts = (count: number) => Array.from({ length: count }, () => stringType)

const functions: readonly FunctionDeclaration[] = [
  declare('charAt', method('string_char_at_int', [stringType, intType], stringType, charAt)),
  declare(
    'indexOf',
    method('string_index_of_string', texts(2), intType, indexOf),
    method('string_index_of_string_int', [...texts(2), intType], intType, indexOf),
  ),
  declare(
    'lastIndexOf',
    method('string_last_index_of_string', texts(2), intType, lastIndexOf),
    method('string_last_index_of_string_int', [...texts(2), intType], intType, lastIndexOf),
  ),
  declare(
    'lowerAscii',
    method('string_lower_ascii', texts(1), stringType, (_: Meter, text: string) => lowerAscii(text)),
  ),
  declare(
    'upperAscii',
    method('string_upper_ascii', texts(1), stringType, (_: Meter, text: string) => upperAscii(text)),
  ),
  declare(
    'trim',
    method('string_trim', texts(1), stringType, (_: Meter, text: string) => trimmed(text)),
  ),
  declare(
    'replace',
    method('string_replace_string_string', texts(3), stringType, replace),
    method('string_replace_string_string_int', [...texts(3), intType], stringType, replace),
  ),
  declare(
    'split',
    method('string_split_string', texts(2), listOf(stringType), split),
    method('string_split_string_int', [...texts(2), intType], listOf(stringType), split),
  ),
  declare(
    'substring',
    method('string_substring_int', [stringType, intType], stringType, substring),
    method('string_substring_int_int', [stringType, intType, intType], stringType, substring),
  ),
  declare(
    'join',
    method('list_join', [listOf(stringType)], stringType, join),
    method('list_join_string', [listOf(stringType), stringType], stringType, join),
  ),
]

const formatting: readonly FunctionDeclaration[] = [
  declare(
    'format',
    method('string_format', [stringType, listOf(dynType)], stringType, (meter: Meter, text: string, args: ListValue) =>
      runCall(meter, formatText(text, args, meter)),
    ),
  ),
  declare(
    'strings.quote',
    overload('strings_quote', texts(1), stringType, (_: Meter, text: string) => quoted(text)),
  ),
]

export const strings: Library = { name: 'strings', functions }

export const formats: Library = { name: 'formatting', functions: formatting }
