import { durationText, timestampText } from '../functions/conversions.ts'
import { fixedText, plainText } from '../functions/number-text.ts'
import type { Meter } from '../meter.ts'
import {
  Double,
  Duration,
  Fault,
  isInt,
  itemsOf,
  ListValue,
  MapValue,
  Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
  type Value,
} from '../values.ts'

/** `'%s is %d'.format([...])` */

const maxPrecision = 1000
const defaultPrecision = 6

export function formatText(format: string, args: ListValue, meter: Meter): Value {
  const out: string[] = []
  let next = 0
  let at = 0
  for (;;) {
    const mark = format.indexOf('%', at)
    out.push(format.slice(at, mark < 0 ? undefined : mark))
    if (mark < 0) break
    if (format[mark + 1] === '%') {
      out.push('%')
      at = mark + 2
      continue
    }
    const found = /^(?:\.(\d*))?([\s\S]?)/.exec(format.slice(mark + 1, mark + 12)) as RegExpExecArray
    const verb = found[2] ?? ''
    if (verb === '') return failed('unexpected end of string')
    if (next >= args.size) return failed(`index ${next} out of range`)
    const value = args.at(next++)
    if (value instanceof Fault) return value
    const precision = found[1] === undefined ? undefined : Number(found[1])
    if (precision !== undefined && precision > maxPrecision) return failed(`precision ${precision} exceeds limit ${maxPrecision}`)
    const text = formatted(verb, value, { precision, meter })
    if (text instanceof Fault) return text
    meter.labor(1 + (text.length >> 4))
    out.push(text)
    at = mark + 1 + found[0].length
  }
  if (next < args.size) return failed(`too many arguments supplied to string.format (expected ${next}, got ${args.size})`)
  return out.join('')
}

function failed(message: string): Fault {
  return new Fault(`error during formatting: ${message}`)
}

function formatted(
  verb: string,
  value: Value,
  { precision, meter }: { readonly precision: number | undefined; readonly meter: Meter },
): string | Fault {
  switch (verb) {
    case 's':
      return textOf(value, meter)
    case 'd':
      return wholeText(value)
    case 'f':
      return fixed(value, precision ?? defaultPrecision)
    case 'e':
      return scientific(value, precision ?? defaultPrecision)
    case 'b':
      return inBase(value, 2, 'binary')
    case 'o':
      return inBase(value, 8, 'octal')
    case 'x':
    case 'X': {
      const text = hexadecimal(value)
      return verb === 'x' || typeof text !== 'string' ? text : text.toUpperCase()
    }
    default:
      return failed(`unrecognized formatting clause "${verb}"`)
  }
}

function unsupported(clause: string, allowed: string, value: Value): Fault {
  return failed(`${clause} clause can only be used on ${allowed}, was given ${typeNameOf(value)}`)
}

function special(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN'
  return Number.isFinite(value) ? undefined : value > 0 ? 'Infinity' : '-Infinity'
}

/** Any value as text. */
function textOf(value: Value, meter: Meter): string | Fault {
  meter.labor(1)
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || isInt(value)) return String(value)
  if (value === null) return 'null'
  if (value instanceof Double) return special(value.value) ?? plainText(value.value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Uint8Array) return new TextDecoder().decode(value)
  if (value instanceof Timestamp) return timestampText(value)
  if (value instanceof Duration) return durationText(value)
  if (value instanceof TypeValue) return value.name
  if (value instanceof ListValue) return listText(value, meter)
  if (value instanceof MapValue) return mapText(value, meter)
  return unsupported('string', 'strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps', value)
}

function listText(list: ListValue, meter: Meter): string | Fault {
  const texts: string[] = []
  for (const item of itemsOf(list)) {
    const text = textOf(item, meter)
    if (text instanceof Fault) return text
    texts.push(text)
  }
  return `[${texts.join(', ')}]`
}

function mapText(map: MapValue, meter: Meter): string | Fault {
  const entries: [string, string][] = []
  for (const key of map.keys()) {
    const name = textOf(key, meter)
    if (name instanceof Fault) return name
    const text = textOf(map.get(key) ?? null, meter)
    if (text instanceof Fault) return text
    entries.push([name, text])
  }
  const sorted = entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${sorted.map(([name, text]) => `${name}: ${text}`).join(', ')}}`
}

function wholeText(value: Value): string | Fault {
  if (isInt(value)) return String(value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Double) {
    const text = special(value.value)
    if (text !== undefined) return text
  }
  return unsupported('decimal', 'integers', value)
}

function numberOf(value: Value): number | undefined {
  if (value instanceof Double) return value.value
  if (isInt(value)) return Number(value)
  return value instanceof Uint ? Number(value.value) : undefined
}

function fixed(value: Value, precision: number): string | Fault {
  const number = numberOf(value)
  if (number === undefined) return unsupported('fixed-point', 'doubles', value)
  const text = special(number)
  if (text !== undefined) return text
  return fixedText(number, precision)
}

function scientific(value: Value, precision: number): string | Fault {
  const number = numberOf(value)
  if (number === undefined) return unsupported('scientific', 'doubles', value)
  const text = special(number)
  return text ?? number.toExponential(Math.min(precision, 100)).replace(/e([+-])(\d)$/, 'e$10$2')
}

function inBase(value: Value, base: number, name: string): string | Fault {
  if (isInt(value)) return BigInt(value).toString(base)
  if (value instanceof Uint) return value.value.toString(base)
  if (typeof value === 'boolean' && base === 2) return value ? '1' : '0'
  return unsupported(name, base === 2 ? 'integers and bools' : 'integers', value)
}

function hexadecimal(value: Value): string | Fault {
  if (isInt(value)) return BigInt(value).toString(16)
  if (value instanceof Uint) return value.value.toString(16)
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value
  if (!(bytes instanceof Uint8Array)) return unsupported('hex', 'integers, byte buffers, and strings', value)
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
