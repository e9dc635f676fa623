/**
 * Spans of time as Go writes them: `1h2m3.5s`.
 */

import { MetaError } from './meta-error.ts'
import { quote } from './time.ts'

const units: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n],
  ['\u03bcs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
])

const limit = 2n ** 63n

/**
 * Reads a span.
 *
 * @returns nanoseconds; digits finer than that are dropped.
 * @throws MetaError `InvalidDuration` with the stock server's message, also outside of 64 bits.
 */
export function parseDuration(text: string): bigint {
  const fail = (message: string): never => {
    throw new MetaError('InvalidDuration', text, `time: ${message} ${quote(text)}`)
  }
  const negative = text.startsWith('-')
  let rest = negative || text.startsWith('+') ? text.slice(1) : text
  if (rest === '0') return 0n
  if (rest === '') return fail('invalid duration')
  let total = 0n
  while (rest !== '') {
    const digits = /^([0-9]*)(?:\.([0-9]*))?/.exec(rest) as RegExpExecArray
    const whole = digits[1] as string
    const fraction = digits[2] ?? ''
    if (whole === '' && fraction === '') return fail('invalid duration')
    if (whole.replace(/^0+/, '').length > 19) return fail('invalid duration')
    rest = rest.slice(digits[0].length)
    const unit = (/^[^.0-9]*/.exec(rest) as RegExpExecArray)[0]
    if (unit === '') return fail('missing unit in duration')
    rest = rest.slice(unit.length)
    const size = units.get(unit)
    if (size === undefined) return fail(`unknown unit ${quote(unit)} in duration`)
    const kept = fraction.slice(0, 18)
    total += BigInt(whole === '' ? '0' : whole) * size + (BigInt(kept === '' ? '0' : kept) * size) / 10n ** BigInt(kept.length)
    if (total > limit) return fail('invalid duration')
  }
  if (negative) return -total
  return total === limit ? fail('invalid duration') : total
}

/** A span in milliseconds, finer parts dropped. @throws MetaError `InvalidDuration` */
export function parseDurationMs(text: string): number {
  return Number(parseDuration(text) / 1_000_000n)
}

/** Prints nanoseconds: hours, minutes and seconds from one second on, and one smaller unit below. */
export function formatDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s'
  const size = nanos < 0n ? -nanos : nanos
  const sign = nanos < 0n ? '-' : ''
  if (size < 1_000n) return `${sign}${size}ns`
  if (size < 1_000_000n) return `${sign}${decimal(size, 3)}\u00b5s`
  if (size < 1_000_000_000n) return `${sign}${decimal(size, 6)}ms`
  const minutes = size / 60_000_000_000n
  let text = `${decimal(size % 60_000_000_000n, 9)}s`
  if (minutes > 0n) {
    text = `${minutes % 60n}m${text}`
    if (minutes >= 60n) text = `${minutes / 60n}h${text}`
  }
  return sign + text
}

/** Prints milliseconds. */
export function formatDurationMs(ms: number): string {
  return formatDuration(BigInt(Math.round(ms)) * 1_000_000n)
}

function decimal(value: bigint, places: number): string {
  const text = value.toString().padStart(places + 1, '0')
  const fraction = text.slice(-places).replace(/0+$/, '')
  const whole = text.slice(0, -places)
  return fraction === '' ? whole : `${whole}.${fraction}`
}
