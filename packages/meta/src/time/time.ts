/** Timestamps, parsed as leniently as on kube-apiserver and formatted in UTC. */

import { maxPrintedLength } from '../go-text.ts'
import { MetaError } from '../meta-error.ts'

/** A point in time. */
export interface Instant {
  /** Seconds since the epoch, rounded down. */
  readonly seconds: number
  /** Nanoseconds within the second. */
  readonly nanos: number
}

const timeLayout = '2006-01-02T15:04:05Z07:00'
const microTimeLayout = '2006-01-02T15:04:05.000000Z07:00'

/**
 * Parses an RFC 3339 timestamp with offset and fraction.
 *
 * @returns milliseconds since the epoch, truncated.
 * @throws MetaError `InvalidTime` with the message of kube-apiserver.
 * @example
 * import { parseTime } from '@krmkit/meta'
 * parseTime('2024-05-01T12:00:00+02:00') // 1714557600000
 */
export function parseTime(text: string): number {
  return instantToMs(parseInstant(text))
}

/**
 * Like `parseTime`, with nanoseconds.
 *
 * @example
 * import { parseInstant } from '@krmkit/meta/time'
 * parseInstant('2024-05-01T10:00:00.5Z') // { seconds: 1714557600, nanos: 500000000 }
 */
export function parseInstant(text: string): Instant {
  return new TimeParser(text, timeLayout).read(false)
}

/**
 * Parses a timestamp with exactly six fractional digits.
 *
 * @throws MetaError `InvalidTime` with the message of kube-apiserver.
 * @example
 * import { parseMicroTime } from '@krmkit/meta/time'
 * parseMicroTime('2024-05-01T10:00:00.500000Z') // { seconds: 1714557600, nanos: 500000000 }
 */
export function parseMicroTime(text: string): Instant {
  return new TimeParser(text, microTimeLayout).read(true)
}

/**
 * Formats `2024-05-01T10:00:00Z`: UTC, truncated to seconds. Numbers are milliseconds since the epoch.
 *
 * @example
 * import { formatTime } from '@krmkit/meta'
 * formatTime(1_714_557_600_000) // '2024-05-01T10:00:00Z'
 */
export function formatTime(time: number | Instant): string {
  const { seconds } = toInstant(time)
  return `${dateAndTime(seconds)}Z`
}

/**
 * Formats `2024-05-01T10:00:00.000000Z`: UTC, truncated to microseconds.
 *
 * @example
 * import { formatMicroTime } from '@krmkit/meta/time'
 * formatMicroTime(1_714_557_600_123) // '2024-05-01T10:00:00.123000Z'
 */
export function formatMicroTime(time: number | Instant): string {
  const { seconds, nanos } = toInstant(time)
  return `${dateAndTime(seconds)}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z`
}

/**
 * A timestamp as kube-apiserver stores and prints it.
 *
 * @throws MetaError `InvalidTime`
 * @example
 * import { normalizeTime } from '@krmkit/meta/time'
 * normalizeTime('2024-05-01T12:00:00.5+02:00') // '2024-05-01T10:00:00Z'
 */
export function normalizeTime(text: string): string {
  return formatTime(parseInstant(text))
}

/**
 * A timestamp with microseconds as kube-apiserver stores and prints it.
 *
 * @throws MetaError `InvalidTime`
 * @example
 * import { normalizeMicroTime } from '@krmkit/meta/time'
 * normalizeMicroTime('2024-05-01T12:00:00.500000+02:00') // '2024-05-01T10:00:00.500000Z'
 */
export function normalizeMicroTime(text: string): string {
  return formatMicroTime(parseMicroTime(text))
}

/**
 * A timestamp in Go's message format: `2024-05-01 10:00:00 +0000 UTC`; `undefined` for malformed text.
 *
 * @example
 * import { formatGoTime } from '@krmkit/meta/time'
 * formatGoTime('2024-05-01T10:00:00Z') // '2024-05-01 10:00:00 +0000 UTC'
 */
export function formatGoTime(text: string): string | undefined {
  try {
    const { seconds, nanos } = parseInstant(text)
    const fraction = nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`
    return `${dateAndTime(seconds).replace('T', ' ')}${fraction} +0000 UTC`
  } catch (error) {
    if (error instanceof MetaError) return undefined
    throw error
  }
}

/**
 * Milliseconds since the epoch, truncated.
 *
 * @example
 * import { instantToMs } from '@krmkit/meta/time'
 * instantToMs({ seconds: 1_714_557_600, nanos: 500_000_000 }) // 1714557600500
 */
export function instantToMs({ seconds, nanos }: Instant): number {
  return seconds * 1000 + Math.floor(nanos / 1_000_000)
}

function toInstant(time: number | Instant): Instant {
  if (typeof time === 'object') return time
  const seconds = Math.floor(time / 1000)
  return { seconds, nanos: Math.floor((time - seconds * 1000) * 1_000_000) }
}

/** Cached text of the last formatted second, because most timestamps of writes are in the current second. */
let recent = { seconds: Number.NaN, text: '' }

function dateAndTime(seconds: number): string {
  if (recent.seconds !== seconds) recent = { seconds, text: printed(seconds) }
  return recent.text
}

function printed(seconds: number): string {
  const date = new Date(seconds * 1000)
  const year = date.getUTCFullYear()
  if (Number.isNaN(year)) throw new RangeError(`not a time: ${seconds}`)
  const two = (value: number) => (value < 10 ? `0${value}` : String(value))
  const yearText = year < 0 ? `-${String(-year).padStart(4, '0')}` : String(year).padStart(4, '0')
  const day = `${yearText}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`
  return `${day}T${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`
}

/** Parses element by element, so that errors name the element and the remaining text. */
class TimeParser {
  readonly #text: string
  readonly #layout: string
  #rest: string

  constructor(text: string, layout: string) {
    this.#text = text
    this.#layout = layout
    this.#rest = text
  }

  read(micro: boolean): Instant {
    const year = this.#number('2006', 4, 4)
    this.#literal('-')
    const month = this.#number('01', 2, 2)
    if (month < 1 || month > 12) this.#outOfRange('month')
    this.#literal('-')
    const day = this.#number('02', 2, 2)
    this.#literal('T')
    const hour = this.#number('15', 1, 2)
    if (hour > 23) this.#outOfRange('hour')
    this.#literal(':')
    const minute = this.#number('04', 2, 2)
    if (minute > 59) this.#outOfRange('minute')
    this.#literal(':')
    const second = this.#number('05', 2, 2)
    if (second > 59) this.#outOfRange('second')
    const nanos = micro ? this.#microseconds() : this.#fraction()
    const offset = this.#offset()
    if (this.#rest !== '') this.#fail(`: extra text: ${goTimeQuote(this.#rest)}`)
    if (day < 1 || day > daysIn(month, year)) this.#fail(': day out of range')
    const date = new Date(0)
    date.setUTCFullYear(year, month - 1, day)
    date.setUTCHours(hour, minute, second)
    return { seconds: date.getTime() / 1000 - offset, nanos }
  }

  #number(element: string, min: number, max: number): number {
    let digits = 0
    while (digits < max && isDigit(this.#rest, digits)) digits++
    if (digits < min) this.#cannotParse(element)
    const value = Number(this.#rest.slice(0, digits))
    this.#rest = this.#rest.slice(digits)
    return value
  }

  #literal(char: string): void {
    if (this.#rest[0] !== char) this.#cannotParse(char)
    this.#rest = this.#rest.slice(1)
  }

  /** Any number of digits after a dot or comma; digits beyond nanoseconds are dropped. */
  #fraction(): number {
    if ((this.#rest[0] !== '.' && this.#rest[0] !== ',') || !isDigit(this.#rest, 1)) return 0
    let length = 2
    while (isDigit(this.#rest, length)) length++
    const digits = this.#rest.slice(1, Math.min(length, 10))
    this.#rest = this.#rest.slice(length)
    return Number(digits.padEnd(9, '0'))
  }

  #microseconds(): number {
    const match = /^[.,]([0-9]{6})/.exec(this.#rest)
    if (match === null) return this.#cannotParse('.000000')
    this.#rest = this.#rest.slice(7)
    return Number(match[1]) * 1000
  }

  /** Seconds east of UTC. */
  #offset(): number {
    if (this.#rest[0] === 'Z') {
      this.#rest = this.#rest.slice(1)
      return 0
    }
    const match = /^(.)(\d\d):(\d\d)/su.exec(this.#rest)
    if (match === null) return this.#cannotParse('Z07:00')
    const [all, sign, hours, minutes] = match as unknown as [string, string, string, string]
    if (Number(hours) > 24) this.#outOfRange('time zone offset hour')
    if (Number(minutes) > 60) this.#outOfRange('time zone offset minute')
    if (sign !== '+' && sign !== '-') this.#cannotParse('Z07:00')
    this.#rest = this.#rest.slice(all.length)
    const seconds = (Number(hours) * 60 + Number(minutes)) * 60
    return sign === '-' ? -seconds : seconds
  }

  #cannotParse(element: string): never {
    return this.#fail(` as ${goTimeQuote(this.#layout)}: cannot parse ${goTimeQuote(this.#rest)} as ${goTimeQuote(element)}`)
  }

  #outOfRange(what: string): never {
    return this.#fail(`: ${what} out of range`)
  }

  #fail(message: string): never {
    throw new MetaError({ code: 'InvalidTime', message: `parsing time ${goTimeQuote(this.#text)}${message}`, text: this.#text })
  }
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 48 && code <= 57
}

function daysIn(month: number, year: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Quotes like Go's time package, by bytes: everything except printable ASCII becomes `\xNN`. Very long text is truncated. */
export function goTimeQuote(text: string): string {
  if (text.length > maxPrintedLength) return `${goTimeQuote(text.slice(0, maxPrintedLength))}... (${text.length} characters)`
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`
  let out = '"'
  for (const byte of new TextEncoder().encode(text)) {
    if (byte < 0x20 || byte >= 0x80) out += `\\x${byte.toString(16).padStart(2, '0')}`
    else if (byte === 0x22 || byte === 0x5c) out += `\\${String.fromCharCode(byte)}`
    else out += String.fromCharCode(byte)
  }
  return `${out}"`
}
