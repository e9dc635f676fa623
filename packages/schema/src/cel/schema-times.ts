import { MetaError, parseDuration } from '@krmkit/meta'
import { Duration, ErrorValue, Timestamp, type Value } from './values.ts'

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
  return new Timestamp(seconds * 1_000_000_000n + BigInt((found[7] ?? '').padEnd(9, '0')))
}

/** Units with the word that longer forms start with: `2 days`. */
const units: readonly (readonly [nanos: bigint, short: readonly string[], long: string])[] = [
  [1n, ['ns'], 'nano'],
  [1_000n, ['us', 'µs'], 'micro'],
  [1_000_000n, ['ms'], 'milli'],
  [1_000_000_000n, ['s'], 'sec'],
  [60_000_000_000n, ['m'], 'min'],
  [3_600_000_000_000n, ['h', 'hr'], 'hour'],
  [86_400_000_000_000n, ['d'], 'day'],
  [604_800_000_000_000n, ['w', 'wk'], 'week'],
]

export function parseSchemaDuration(text: string): Value {
  try {
    return new Duration(parseDuration(text))
  } catch (error) {
    if (!(error instanceof MetaError)) throw error
  }
  let total = 0n
  let found = false
  for (const [, digits = '', unit = ''] of text.matchAll(/(\d{1,18})\s*([A-Za-zµ]+)/g)) {
    const word = unit.toLowerCase()
    const size = units.find(([, short, long]) => short.includes(word) || word.startsWith(long))
    if (size === undefined) continue
    found = true
    total += BigInt(digits) * size[0]
  }
  if (!found) return new ErrorValue(`Invalid duration formatted string: unable to parse ${text} as duration`)
  return new Duration(text.startsWith('-') ? -total : total)
}
