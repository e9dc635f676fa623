import { hexText } from '@krmkit/base/bytes'
import { sort, type Work } from '@krmkit/base/work'
import { goQuote } from '@krmkit/meta/go-text'
import { durationText, timestampText } from '../functions/conversions.ts'
import { doubleText, fixedText } from '../functions/number-text.ts'
import type { Meter } from '../values/meter.ts'
import {
  Double,
  Duration,
  ErrorValue,
  isInt,
  itemsOf,
  ListValue,
  MapValue,
  Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
  type Value,
} from '../values/values.ts'
import { applyClauses, type Clause, unsuitableArgument, type Verb } from './format-clauses.ts'

/** `'%s is %d'.format([...])` as in version 2 of the strings library, with English number formats for `%f` and `%e`. */

const defaultPrecision = 6

export function* formatText(format: string, args: ListValue, meter: Meter): Work<Value> {
  const done = yield* applyClauses<ErrorValue>(format, args.size, (clause, index) => clauseText(clause, args.at(index), meter))
  if (!('problem' in done)) return done.text
  return typeof done.problem === 'string' ? new ErrorValue(done.problem) : done.problem
}

function* clauseText(
  clause: Clause,
  value: Value,
  meter: Meter,
): Work<{ readonly text: string } | { readonly problem: ErrorValue }> {
  const text = value instanceof ErrorValue ? value : yield* formatted(clause, value, meter)
  if (text instanceof ErrorValue) return { problem: text }
  meter.chargeWork(1 + (text.length >> 4))
  return { text }
}

function* formatted({ verb, precision }: Clause, value: Value, meter: Meter): Work<string | ErrorValue> {
  switch (verb) {
    case 's':
      return yield* valueText(value, meter)
    case 'd':
      return isInt(value) ? String(value) : value instanceof Uint ? String(value.value) : refused(verb, value)
    case 'f':
      return fixed(value, precision ?? defaultPrecision)
    case 'e':
      return scientific(value)
    case 'b':
      return typeof value === 'boolean' ? (value ? '1' : '0') : inBase(value, 2, verb)
    case 'o':
      return inBase(value, 8, verb)
    case 'x':
      return hexadecimal(value, verb)
    case 'X': {
      const text = hexadecimal(value, verb)
      return typeof text === 'string' ? text.toUpperCase() : text
    }
  }
}

function refused(verb: Verb, value: Value): ErrorValue {
  return new ErrorValue(unsuitableArgument(verb, typeNameOf(value)))
}

/** Formats any value. */
function* valueText(value: Value, meter: Meter): Work<string | ErrorValue> {
  if (value instanceof ListValue) return yield* listText(value, meter)
  return value instanceof MapValue ? yield* mapText(value, meter) : plainText(value, meter)
}

/** Formats a value that is neither a list nor a map. */
function plainText(value: Value, meter: Meter): string | ErrorValue {
  meter.chargeWork(1)
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || isInt(value)) return String(value)
  if (value === null) return 'null'
  if (value instanceof Double) return doubleText(value.value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Uint8Array) return bytesText(value)
  if (value instanceof Timestamp) return timestampText(value)
  if (value instanceof Duration) return durationText(value)
  return value instanceof TypeValue ? value.name : refused('s', value)
}

function bytesText(value: Uint8Array): string | ErrorValue {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value)
  } catch {
    return new ErrorValue(
      'error during formatting: could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string',
    )
  }
}

/** Formats a scalar inside a list or map as a literal. */
function memberText(value: Value, meter: Meter): string | ErrorValue {
  if (value instanceof Double) {
    const special = specialText(value.value, ['NaN', '+Inf', '-Inf'])
    return special === undefined ? fixedText(value.value, defaultPrecision) : goQuote(special)
  }
  if (value instanceof ErrorValue) return value
  const text = plainText(value, meter)
  if (text instanceof ErrorValue) {
    if (value instanceof Uint8Array) return text
    return new ErrorValue(`error during formatting: no formatting function for ${typeNameOf(value)}`)
  }
  if (typeof value === 'string') return goQuote(text)
  if (value instanceof Uint8Array) return `b${goQuote(text)}`
  if (value instanceof Timestamp) return `timestamp(${goQuote(text)})`
  return value instanceof Duration ? `duration(${goQuote(text)})` : text
}

/** Number of members formatted in one step: about a millisecond. */
const membersPerStep = 4096

function isContainer(value: Value): value is ListValue | MapValue {
  return value instanceof ListValue || value instanceof MapValue
}

function* listText(list: ListValue, meter: Meter): Work<string | ErrorValue> {
  meter.chargeWork(1)
  const texts: string[] = []
  for (const item of itemsOf(list)) {
    const text = isContainer(item) ? yield* valueText(item, meter) : memberText(item, meter)
    if (text instanceof ErrorValue) return text
    meter.chargeWork(4 + text.length)
    if (texts.push(text) % membersPerStep === 0) yield true
  }
  return `[${texts.join(', ')}]`
}

function* mapText(map: MapValue, meter: Meter): Work<string | ErrorValue> {
  meter.chargeWork(1)
  const entries: [string, string][] = []
  for (const key of map.keys()) {
    const name = memberText(key, meter)
    if (name instanceof ErrorValue) return name
    const value = map.get(key) ?? null
    const text = isContainer(value) ? yield* valueText(value, meter) : memberText(value, meter)
    if (text instanceof ErrorValue) return text
    meter.chargeWork(8 + name.length + text.length)
    if (entries.push([name, text]) % membersPerStep === 0) yield true
  }
  const sorted = yield* sort(entries, ([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${sorted.map(([name, text]) => `${name}:${text}`).join(', ')}}`
}

function specialText(value: number, [nan, positive, negative]: readonly [string, string, string]): string | undefined {
  if (Number.isNaN(value)) return nan
  return Number.isFinite(value) ? undefined : value > 0 ? positive : negative
}

const specials: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
}

function numberOf(value: Value): number | undefined {
  if (value instanceof Double) return value.value
  return typeof value === 'string' && Object.hasOwn(specials, value) ? specials[value] : undefined
}

/** Formats with a fixed number of decimals and grouped thousands. */
function fixed(value: Value, precision: number): string | ErrorValue {
  const number = numberOf(value)
  if (number === undefined) return refused('f', value)
  const special = specialText(number, ['NaN', '∞', '-∞'])
  if (special !== undefined) return special
  const [whole = '', fraction] = fixedText(number, precision).split('.')
  const grouped = whole.replace(/\B(?=(?:[0-9]{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

const raised = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹']

/** Formats with an exponent and, as on kube-apiserver, always six decimals. */
function scientific(value: Value): string | ErrorValue {
  const number = numberOf(value)
  if (number === undefined) return refused('e', value)
  const special = specialText(number, ['NaN', '∞', '-∞'])
  if (special !== undefined) return special
  const [mantissa = '', exponent = '0'] = number.toExponential(defaultPrecision).split('e')
  const sign = Object.is(number, -0) ? '-' : ''
  const digits = exponent.replace(/^[+-]/, '').padStart(2, '0')
  const power = Array.from(digits, (digit) => raised[Number(digit)]).join('')
  return `${sign}${mantissa}\u202f×\u202f10${exponent.startsWith('-') ? '⁻' : ''}${power}`
}

function inBase(value: Value, base: number, verb: Verb): string | ErrorValue {
  if (isInt(value)) return BigInt(value).toString(base)
  return value instanceof Uint ? value.value.toString(base) : refused(verb, value)
}

function hexadecimal(value: Value, verb: Verb): string | ErrorValue {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value
  if (!(bytes instanceof Uint8Array)) return inBase(value, 16, verb)
  return hexText(bytes)
}
