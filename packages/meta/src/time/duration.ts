/** Durations in Go's notation: `1h2m3.5s`. */

import { MetaError } from '../meta-error.ts'
import { goTimeQuote } from './time.ts'

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
 * Parses a duration. Fractions are scaled in floating point, as on kube-apiserver, so `0.6666666666666666666h` is 40 minutes.
 *
 * @returns nanoseconds; smaller fractions are truncated.
 * @throws MetaError `InvalidDuration` with the message of kube-apiserver, also for durations beyond 64 bits.
 * @example
 * import { parseDuration } from '@krmkit/meta'
 * parseDuration('1m30s') // 90000000000n
 */
export function parseDuration(text: string): bigint {
  const negative = text.startsWith('-')
  let rest = negative || text.startsWith('+') ? text.slice(1) : text
  if (rest === '0') return 0n
  if (rest === '') fail(text, 'invalid duration')
  let total = 0n
  while (rest !== '') {
    const [all, whole = '', fraction = ''] = /^([0-9]*)(?:\.([0-9]*))?/.exec(rest) as RegExpExecArray
    if (whole === '' && fraction === '') fail(text, 'invalid duration')
    rest = rest.slice(all.length)
    const unit = (/^[^.0-9]*/.exec(rest) as RegExpExecArray)[0]
    if (unit === '') fail(text, 'missing unit in duration')
    const size = units.get(unit) ?? fail(text, `unknown unit ${goTimeQuote(unit)} in duration`)
    rest = rest.slice(unit.length)
    total += wholeUnits(whole, text) * size + fractionOfUnit(fraction, size)
    if (total > limit) fail(text, 'invalid duration')
  }
  if (!negative && total === limit) fail(text, 'invalid duration')
  return negative ? -total : total
}

/**
 * Parses a duration to milliseconds, truncated.
 *
 * @throws MetaError `InvalidDuration`
 * @example
 * import { parseDurationMs } from '@krmkit/meta/time'
 * parseDurationMs('1m30s') // 90000
 */
export function parseDurationMs(text: string): number {
  return Number(parseDuration(text) / 1_000_000n)
}

/**
 * Formats nanoseconds: as hours, minutes and seconds from one second up, otherwise in one smaller unit.
 *
 * @example
 * import { formatDuration } from '@krmkit/meta'
 * formatDuration(90_000_000_000n) // '1m30s'
 * formatDuration(1_500_000n) // '1.5ms'
 */
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

/**
 * Formats milliseconds.
 *
 * @example
 * import { formatDurationMs } from '@krmkit/meta/time'
 * formatDurationMs(90_000) // '1m30s'
 */
export function formatDurationMs(ms: number): string {
  return formatDuration(BigInt(Math.round(ms)) * 1_000_000n)
}

function fail(text: string, message: string): never {
  throw new MetaError({ code: 'InvalidDuration', message: `time: ${message} ${goTimeQuote(text)}`, text })
}

function wholeUnits(digits: string, text: string): bigint {
  const significant = digits.replace(/^0+/, '')
  if (significant.length > 19) fail(text, 'invalid duration')
  return significant === '' ? 0n : BigInt(significant)
}

/** Ignores digits beyond 64 bits, as kube-apiserver does. */
function fractionOfUnit(digits: string, unit: bigint): bigint {
  let value = 0n
  let scale = 1
  for (let i = 0; i < digits.length && value <= (limit - 1n) / 10n; i++) {
    const next = value * 10n + BigInt(digits.charCodeAt(i) - 48)
    if (next > limit) break
    value = next
    scale *= 10
  }
  return BigInt(Math.trunc(Number(value) * (Number(unit) / scale)))
}

function decimal(value: bigint, places: number): string {
  const text = value.toString().padStart(places + 1, '0')
  const fraction = text.slice(-places).replace(/0+$/, '')
  const whole = text.slice(0, -places)
  return fraction === '' ? whole : `${whole}.${fraction}`
}
