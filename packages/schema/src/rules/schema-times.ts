import { Duration, ErrorValue, Timestamp, type Value } from '@krmkit/cel/values'
import { readFormatDuration } from '@krmkit/meta/formats'

/** Timestamps and durations in the forms of schema formats, which are more lenient than CEL functions. */

const moment = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9})\d*)?)?(?:[Zz]|([+-])(\d\d):?(\d\d))?)?$/

export function parseSchemaTimestamp(text: string): Value {
  const found = moment.exec(text)
  if (found === null) return new ErrorValue(`Invalid date formatted string ${text}`)
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second)
  const offset = (Number(found[9] ?? 0) * 60 + Number(found[10] ?? 0)) * (found[8] === '-' ? -1 : 1)
  const seconds = BigInt(date.getTime() / 1000 - offset * 60)
  return new Timestamp(seconds * 1_000_000_000n + BigInt((found[7] ?? '').padEnd(9, '0')), offset * 60)
}

export function parseSchemaDuration(text: string): Value {
  const nanos = readFormatDuration(text)
  return nanos === undefined
    ? new ErrorValue(`Invalid duration ${text}: unable to parse ${text} as duration`)
    : new Duration(nanos)
}
