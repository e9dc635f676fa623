import { MetaError, parseDuration } from '@krmkit/meta'
import { parseInstant } from '@krmkit/meta/time'
import { declare, type FunctionDeclaration, type Implementation, overload } from '../values/declarations.ts'
import type { Meter } from '../values/meter.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  param,
  stringType,
  type Type,
  timestampType,
  typeOf,
  uintType,
} from '../values/types.ts'
import {
  checkedInt,
  checkedUint,
  Double,
  Duration,
  ErrorValue,
  intOverflow,
  type Timestamp,
  TypeValue,
  typeNameOf,
  type Uint,
  uintOverflow,
  type Value,
} from '../values/values.ts'
import { checkedTimestamp, timestampOverflow } from './arithmetic.ts'
import { doubleText, plainText, readFloat } from './number-text.ts'

/** Type conversions: `int(x)`, `string(x)`, ... */

type Int = number | bigint

function failed(from: string, to: string): ErrorValue {
  return new ErrorValue(`type conversion error from '${from}' to '${to}'`)
}

const same: Implementation = (_: Meter, value: Value) => value

/** Declares a conversion function with one overload per source type. */
function conversion(
  name: string,
  result: Type,
  from: readonly (readonly [word: string, type: Type, run: Implementation])[],
): FunctionDeclaration {
  const words: Readonly<Record<string, string>> = { int: 'int64', uint: 'uint64' }
  const to = words[name] ?? name
  return declare(name, ...from.map(([word, type, run]) => overload(`${word}_to_${to}`, [type], result, run)))
}

const trues = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])
const falses = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False'])

function readBool(_: Meter, text: string): Value {
  return trues.has(text) ? true : falses.has(text) ? false : failed('string', 'bool')
}

function readInt(_: Meter, text: string): Value {
  if (!/^[+-]?[0-9]{1,30}$/.test(text)) return failed('string', 'int')
  const value = checkedInt(BigInt(text.replace(/^\+/, '')))
  return value instanceof ErrorValue ? failed('string', 'int') : value
}

function readUint(_: Meter, text: string): Value {
  if (!/^[0-9]{1,30}$/.test(text)) return failed('string', 'uint')
  const value = checkedUint(BigInt(text))
  return value instanceof ErrorValue ? failed('string', 'uint') : value
}

function intOfDouble(_: Meter, { value }: Double): Value {
  if (!(value > -(2 ** 63)) || !(value < 2 ** 63)) return intOverflow
  return checkedInt(BigInt(Math.trunc(value)))
}

function uintOfDouble(_: Meter, { value }: Double): Value {
  return value >= 0 && value < 2 ** 64 ? checkedUint(BigInt(Math.trunc(value))) : uintOverflow
}

function bytesText(_: Meter, bytes: Uint8Array): Value {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return new ErrorValue('invalid UTF-8 in bytes, cannot convert to string')
  }
}

/** Parses an RFC 3339 time. */
export function readTimestamp(text: string): Value {
  try {
    const { seconds, nanos } = parseInstant(text)
    const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)$/.exec(text) ?? []
    const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * (sign === '-' ? -60 : 60)
    return checkedTimestamp(BigInt(seconds) * 1_000_000_000n + BigInt(nanos), offset)
  } catch (error) {
    if (error instanceof MetaError) return failed('string', 'google.protobuf.Timestamp')
    throw error
  }
}

export function secondsToTimestamp(seconds: Int): Value {
  return Math.abs(Number(seconds)) > 1e13 ? timestampOverflow : checkedTimestamp(BigInt(seconds) * 1_000_000_000n)
}

export function readDuration(text: string): Value {
  try {
    return new Duration(parseDuration(text))
  } catch (error) {
    if (error instanceof MetaError) return failed('string', 'google.protobuf.Duration')
    throw error
  }
}

/** For example `2024-05-01T10:00:00.5+02:00`. */
export function timestampText({ nanos, offset }: Timestamp): string {
  const seconds = floor(nanos)
  const fraction = (nanos - seconds * 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '')
  const base = new Date((Number(seconds) + offset) * 1000).toISOString().replace(/^\+0*/, '').slice(0, -5)
  return `${base}${fraction === '' ? '' : `.${fraction}`}${zoneText(offset)}`
}

function zoneText(offset: number): string {
  if (offset === 0) return 'Z'
  const minutes = Math.abs(offset) / 60
  const two = (value: number) => String(value).padStart(2, '0')
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

/** Whole seconds, rounded down. */
function floor(nanos: bigint): bigint {
  const seconds = nanos / 1_000_000_000n
  return nanos < 0n && seconds * 1_000_000_000n !== nanos ? seconds - 1n : seconds
}

/** Duration in seconds, such as `1.5s`. */
export function durationText({ nanos }: Duration): string {
  return `${plainText(Number(nanos / 1_000_000_000n) + Number(nanos % 1_000_000_000n) / 1e9)}s`
}

export const conversions: readonly FunctionDeclaration[] = [
  conversion('bool', boolType, [
    ['bool', boolType, same],
    ['string', stringType, readBool],
  ]),
  conversion('bytes', bytesType, [
    ['bytes', bytesType, same],
    ['string', stringType, (_: Meter, text: string) => new TextEncoder().encode(text)],
  ]),
  conversion('double', doubleType, [
    ['double', doubleType, same],
    ['int64', intType, (_: Meter, value: Int) => new Double(Number(value))],
    [
      'string',
      stringType,
      (_: Meter, text: string) => {
        const value = readFloat(text)
        return value === undefined ? failed('string', 'double') : new Double(value)
      },
    ],
    ['uint64', uintType, (_: Meter, { value }: Uint) => new Double(Number(value))],
  ]),
  conversion('duration', durationType, [
    ['duration', durationType, same],
    // Declared but not implemented, as on kube-apiserver.
    ['int64', intType, () => failed('int', 'google.protobuf.Duration')],
    ['string', stringType, (_: Meter, text: string) => readDuration(text)],
  ]),
  declare('dyn', overload('to_dyn', [param('A')], dynType, same)),
  conversion('int', intType, [
    ['int64', intType, same],
    ['double', doubleType, intOfDouble],
    ['duration', durationType, (_: Meter, { nanos }: Duration) => checkedInt(nanos)],
    ['string', stringType, readInt],
    ['timestamp', timestampType, (_: Meter, { nanos }: Timestamp) => checkedInt(floor(nanos))],
    ['uint64', uintType, (_: Meter, { value }: Uint) => checkedInt(value)],
  ]),
  conversion('string', stringType, [
    ['string', stringType, same],
    ['bool', boolType, (_: Meter, value: boolean) => String(value)],
    ['bytes', bytesType, bytesText],
    ['double', doubleType, (_: Meter, { value }: Double) => doubleText(value)],
    ['duration', durationType, (_: Meter, value: Duration) => durationText(value)],
    ['int64', intType, (_: Meter, value: Int) => String(value)],
    ['timestamp', timestampType, (_: Meter, value: Timestamp) => timestampText(value)],
    ['uint64', uintType, (_: Meter, { value }: Uint) => String(value)],
  ]),
  conversion('timestamp', timestampType, [
    ['timestamp', timestampType, same],
    ['int64', intType, (_: Meter, value: Int) => secondsToTimestamp(value)],
    ['string', stringType, (_: Meter, text: string) => readTimestamp(text)],
  ]),
  declare(
    'type',
    overload('type', [param('A')], typeOf(param('A')), (_: Meter, value: Value) => new TypeValue(typeNameOf(value))),
  ),
  conversion('uint', uintType, [
    ['uint64', uintType, same],
    ['double', doubleType, uintOfDouble],
    ['int64', intType, (_: Meter, value: Int) => checkedUint(BigInt(value))],
    ['string', stringType, readUint],
  ]),
]

export const conversionNames: ReadonlySet<string> = new Set(conversions.map(({ name }) => name))
