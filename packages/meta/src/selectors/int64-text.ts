/** 64-bit integers as decimal text, compared without bigint allocation. */

/** An integer in two exact parts: `sign * (high * 1e9 + low)`. */
export interface SplitInt64 {
  readonly sign: 1 | -1
  readonly high: number
  readonly low: number
}

const lowDigits = 9
const maxHigh = 9_223_372_036
const maxLow = 854_775_807

/** Splits the text; `undefined` unless it is a 64-bit integer. */
export function splitInt64(text: string): SplitInt64 | undefined {
  const start = digitsStart(text)
  if (start < 0) return undefined
  const sign = text.charCodeAt(0) === minus ? -1 : 1
  const middle = Math.max(start, text.length - lowDigits)
  const high = digits(text, start, middle)
  const low = digits(text, middle, text.length)
  return fits(sign, high, low) ? { sign, high, low } : undefined
}

/**
 * Negative when the integer in `text` is less than `bound`, 0 when equal, positive when greater; `NaN` unless the text is a
 * 64-bit integer. Does not allocate.
 */
export function compareInt64(text: string, bound: SplitInt64): number {
  const start = digitsStart(text)
  if (start < 0) return Number.NaN
  const sign = text.charCodeAt(0) === minus ? -1 : 1
  const middle = Math.max(start, text.length - lowDigits)
  const high = digits(text, start, middle)
  const low = digits(text, middle, text.length)
  if (!fits(sign, high, low)) return Number.NaN
  const difference = sign * high - bound.sign * bound.high
  return difference !== 0 ? difference : sign * low - bound.sign * bound.low
}

const plus = 43
const minus = 45
const zero = 48

/** Start of the digits, without leading zeros; -1 for malformed text or too many digits. */
function digitsStart(text: string): number {
  const first = text.charCodeAt(0)
  let start = first === plus || first === minus ? 1 : 0
  if (start === text.length) return -1
  while (start < text.length - 1 && text.charCodeAt(start) === zero) start++
  if (text.length - start > 19) return -1
  for (let i = start; i < text.length; i++) {
    const digit = text.charCodeAt(i) - zero
    if (digit < 0 || digit > 9) return -1
  }
  return start
}

function digits(text: string, from: number, to: number): number {
  let value = 0
  for (let i = from; i < to; i++) value = value * 10 + text.charCodeAt(i) - zero
  return value
}

function fits(sign: number, high: number, low: number): boolean {
  return high < maxHigh || (high === maxHigh && low <= (sign < 0 ? maxLow + 1 : maxLow))
}
