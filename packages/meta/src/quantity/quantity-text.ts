/** Text form of quantities: parsing of digits and suffixes, and formatting. */

import { MetaError } from '../meta-error.ts'

/** The family of suffixes a quantity is formatted with. */
export type QuantityFormat = 'DecimalExponent' | 'DecimalSI' | 'BinarySI'

/** Message for malformed quantities. */
export const quantityFormatError = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const numericError = 'unable to parse numeric part of quantity'
const suffixError = "unable to parse quantity's suffix"

/** Differs: longer numbers and larger exponents are rejected, because the cost of arithmetic would be unlimited. */
const maxDigits = 1000
const maxExponent = 1000

/** A quantity as written. */
export interface QuantityParts {
  readonly negative: boolean
  /** Digits before the decimal point without leading zeros, at least `0`. */
  readonly whole: string
  /** Digits after the decimal point. */
  readonly fraction: string
  /** Base of the suffix. */
  readonly base: 2 | 10
  readonly exponent: number
  readonly format: QuantityFormat
}

const decimalExponents: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
])
const decimalSuffixes: ReadonlyMap<number, string> = new Map(
  [...decimalExponents].map(([suffix, exponent]) => [exponent, suffix]),
)
const binarySuffixes: readonly string[] = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

/**
 * Splits a quantity. Missing digits count as zero, as on kube-apiserver, except with the very large and very small suffixes:
 * `Mi` is 0, `Pi` is rejected.
 *
 * @throws MetaError `InvalidQuantity`
 */
export function splitQuantity(text: string): QuantityParts {
  if (text === '') refuse(text, quantityFormatError)
  let at = text[0] === '-' || text[0] === '+' ? 1 : 0
  while (text[at] === '0') at++
  const wholeEnd = digitsEnd(text, at)
  const whole = text.slice(at, wholeEnd)
  at = wholeEnd
  let fraction = ''
  if (text[at] === '.') {
    const end = digitsEnd(text, at + 1)
    fraction = text.slice(at + 1, end)
    at = end
  }
  const hasDigits = /[0-9]/.test(text.slice(0, at))
  const suffix = text.slice(at)
  if (suffix !== '' && !isSuffix(suffix)) refuse(text, quantityFormatError)
  const decimal = decimalExponents.get(suffix)
  const binary = binarySuffixes.indexOf(suffix)
  let base: 2 | 10 = 10
  let exponent = decimal ?? 0
  let format: QuantityFormat = 'DecimalSI'
  if (decimal === undefined && binary > 0) {
    base = 2
    exponent = binary * 10
    format = 'BinarySI'
  } else if (decimal === undefined) {
    exponent = /^[eE][+-]?[0-9]+$/.test(suffix) ? Number(suffix.slice(1)) : Number.NaN
    format = 'DecimalExponent'
    if (!(Math.abs(exponent) <= maxExponent)) refuse(text, suffixError)
  }
  if (whole.length + fraction.length > maxDigits) refuse(text, numericError)
  const parts: QuantityParts = { negative: text[0] === '-', whole: whole === '' ? '0' : whole, fraction, base, exponent, format }
  if (!hasDigits && !isShort(parts)) refuse(text, numericError)
  return parts
}

/** The smallest fraction kept: 1e-9. */
export const nano = -9

/** Whether the Go library represents the amount by digits and exponent; it represents other amounts in nano units. */
export function isShort({ whole, fraction, base, exponent }: QuantityParts): boolean {
  if (base === 2) return fraction === '' && 15 - whole.length - Math.trunc((exponent * 3) / 10) - 1 >= 0
  return whole.length + fraction.length <= 18 && exponent - fraction.length >= nano
}

/** Formats digits with the suffix for a power of ten that is a multiple of 3; above `E`, an exponent. */
export function formatDecimal(digits: bigint, exponent: number, format: QuantityFormat): string {
  const suffix = format === 'DecimalExponent' ? undefined : decimalSuffixes.get(exponent)
  if (suffix !== undefined) return `${digits}${suffix}`
  return exponent === 0 ? String(digits) : `${digits}e${exponent}`
}

/** Formats an integer with the largest binary suffix that divides it. */
export function formatBinary(value: bigint): string {
  let digits = value
  let power = 0
  while (power < binarySuffixes.length - 1 && digits % 1024n === 0n) {
    digits /= 1024n
    power++
  }
  return `${digits}${binarySuffixes[power]}`
}

function digitsEnd(text: string, start: number): number {
  let at = start
  while (isDigit(text.charCodeAt(at))) at++
  return at
}

/** Letters, a sign and digits, each optional. */
function isSuffix(text: string): boolean {
  let at = 0
  while (at < text.length && 'eEinumkKMGTP'.includes(text[at] as string)) at++
  if (text[at] === '-' || text[at] === '+') at++
  return digitsEnd(text, at) === text.length
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function refuse(text: string, message: string): never {
  throw new MetaError({ code: 'InvalidQuantity', message, text })
}

/** Whether kube-apiserver prints the text as written: its shortcut treats some short numbers as canonical. */
export function isPrintedAsWritten(parts: QuantityParts): boolean {
  if (!isShort(parts)) return false
  const { whole, fraction, base, exponent } = parts
  if (base === 2) return Number(whole.slice(-3)) % 8 !== 0
  const digits = whole + fraction
  return (exponent - fraction.length) % 3 === 0 && digits[0] !== '0' && !digits.endsWith('000')
}
