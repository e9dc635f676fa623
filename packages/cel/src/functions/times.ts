import { goQuote } from '@krmkit/meta/go-text'
import { isTimeZone } from '@krmkit/meta/time'
import { declare, type FunctionDeclaration, method, type Overload } from '../values/declarations.ts'
import type { Meter } from '../values/meter.ts'
import { durationType, intType, stringType, timestampType } from '../values/types.ts'
import { type Duration, ErrorValue, normalizeInt, type Timestamp, type Value } from '../values/values.ts'

/** Accessors of timestamps and durations. */

/** Calendar fields of a time in some time zone. */
interface Civil {
  readonly year: number
  /** Counted from 0. */
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  /** Sunday is 0. */
  readonly weekday: number
  /** Counted from 0. */
  readonly yearDay: number
}

function millis({ nanos }: Timestamp): number {
  const ms = nanos / 1_000_000n
  return Number(nanos < 0n && ms * 1_000_000n !== nanos ? ms - 1n : ms)
}

function civil(ms: number): Civil {
  const date = new Date(ms)
  const year = date.getUTCFullYear()
  const start = new Date(0)
  start.setUTCFullYear(year, 0, 1)
  return {
    year,
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    weekday: date.getUTCDay(),
    yearDay: Math.floor((ms - start.getTime()) / 86_400_000),
  }
}

/** Offset of a time zone from UTC in milliseconds: `+05:30`, or a name such as `Europe/Berlin`. */
function offsetOf(zone: string, ms: number): number | ErrorValue {
  const colon = zone.indexOf(':')
  if (colon >= 0) return fixedOffset(zone.slice(0, colon), zone.slice(colon + 1))
  if (zone === '' || zone === 'UTC' || zone === 'Factory') return 0
  // The local zone of the machine, as in Go.
  if (zone === 'Local') return localOffset(undefined, ms)
  if (isTimeZone(zone)) return localOffset(zone, ms)
  const isPath = zone.includes('..') || zone.startsWith('/') || zone.startsWith('\\')
  return new ErrorValue(isPath ? 'time: invalid location name' : `unknown time zone ${zone}`)
}

/**
 * Offset in milliseconds, computed as in Go with overflowing 64-bit integers. A sign before the hours also applies to the
 * minutes.
 */
function fixedOffset(hours: string, minutes: string): number | ErrorValue {
  const h = goInteger(hours)
  if (h instanceof ErrorValue) return h
  const m = goInteger(minutes)
  if (m instanceof ErrorValue) return m
  const sum = h * 60n + (hours.startsWith('-') ? -m : m)
  const nanos = BigInt.asIntN(64, sum * 60_000_000_000n)
  return Number(nanos / 1_000_000_000n) * 1000
}

function goInteger(text: string): bigint | ErrorValue {
  const failed = (why: string) => new ErrorValue(`strconv.Atoi: parsing ${goQuote(text)}: ${why}`)
  if (!/^[+-]?[0-9]+$/.test(text)) return failed('invalid syntax')
  const digits = text.replace(/^[+-]?0*/, '')
  const value = digits.length > 19 ? 2n ** 64n : BigInt(text.replace(/^\+/, ''))
  return BigInt.asIntN(64, value) === value ? value : failed('value out of range')
}

function localOffset(timeZone: string | undefined, ms: number): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    era: 'short',
  })
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]))
  const number = (name: Intl.DateTimeFormatPartTypes) => Number(parts.get(name))
  const local = new Date(0)
  const year = parts.get('era')?.startsWith('B') === true ? 1 - number('year') : number('year')
  local.setUTCFullYear(year, number('month') - 1, number('day'))
  local.setUTCHours(number('hour'), number('minute'), number('second'))
  return local.getTime() - Math.floor(ms / 1000) * 1000
}

/** Work charged for a time zone, because creating its formatter is slow. */
const zoneWork = 2_000

/** Reads the local time of a zone, in milliseconds. */
function inZone(read: (ms: number) => number): (meter: Meter, time: Timestamp, zone: string) => Value {
  return (meter, time, zone) => {
    meter.chargeWork(zoneWork)
    const ms = millis(time)
    const offset = offsetOf(zone, ms)
    return offset instanceof ErrorValue ? offset : read(ms + offset)
  }
}

function part(name: string, word: string, read: (time: Civil) => number, ...more: readonly Overload[]): FunctionDeclaration {
  return declare(
    name,
    method(`timestamp_to_${word}`, [timestampType], intType, (_: Meter, time: Timestamp) => read(civil(millis(time)))),
    method(
      word === 'seconds' ? 'timestamp_to_seconds_tz' : `timestamp_to_${word}_with_tz`,
      [timestampType, stringType],
      intType,
      inZone((ms) => read(civil(ms))),
    ),
    ...more,
  )
}

function ofDuration(word: string, nanos: bigint): Overload {
  return method(`duration_to_${word}`, [durationType], intType, (_: Meter, value: Duration) => normalizeInt(value.nanos / nanos))
}

const subMillis = (ms: number): number => ((ms % 1000) + 1000) % 1000

export const times: readonly FunctionDeclaration[] = [
  part('getFullYear', 'year', ({ year }) => year),
  part('getMonth', 'month', ({ month }) => month),
  part('getDayOfYear', 'day_of_year', ({ yearDay }) => yearDay),
  part('getDayOfMonth', 'day_of_month', ({ day }) => day - 1),
  part('getDate', 'day_of_month_1_based', ({ day }) => day),
  part('getDayOfWeek', 'day_of_week', ({ weekday }) => weekday),
  part('getHours', 'hours', ({ hour }) => hour, ofDuration('hours', 3_600_000_000_000n)),
  part('getMinutes', 'minutes', ({ minute }) => minute, ofDuration('minutes', 60_000_000_000n)),
  part('getSeconds', 'seconds', ({ second }) => second, ofDuration('seconds', 1_000_000_000n)),
  declare(
    'getMilliseconds',
    method('timestamp_to_milliseconds', [timestampType], intType, (_: Meter, time: Timestamp) => subMillis(millis(time))),
    method('timestamp_to_milliseconds_with_tz', [timestampType, stringType], intType, inZone(subMillis)),
    ofDuration('milliseconds', 1_000_000n),
  ),
]
