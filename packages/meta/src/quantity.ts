/**
 * Amounts of resources: `100m`, `1.5Gi`, `12e6`. Exact, and printed in one canonical way.
 */

import { MetaError } from './meta-error.ts'

/** Which family of suffixes an amount is printed with. */
export type QuantityFormat = 'DecimalExponent' | 'DecimalSI' | 'BinarySI'

/** What a text that is no amount is told. */
export const quantityFormatError = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const numericError = 'unable to parse numeric part of quantity'
const suffixError = "unable to parse quantity's suffix"

/** Differs: longer numbers and greater exponents are refused, because arithmetic on them costs without bound. */
const maxDigits = 1000
const maxExponent = 1000

const maxInt64 = 2n ** 63n - 1n
const minInt64 = -(2n ** 63n)

const decimalSuffixes: ReadonlyMap<string, number> = new Map([
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
const decimalNames: ReadonlyMap<number, string> = new Map([...decimalSuffixes].map(([name, exponent]) => [exponent, name]))
const binaryNames: readonly string[] = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

/**
 * An immutable amount: `unscaled * 10 ** exponent`, never finer than 1e-9.
 *
 * Printing keeps the family of suffixes that was read as long as that loses nothing, with the largest suffix that
 * leaves a whole number: `1500m` stays, `1000m` is `1`, `1024Mi` is `1Gi`, `0.5Gi` is `512Mi`.
 */
export class Quantity {
  readonly format: QuantityFormat
  readonly #unscaled: bigint
  readonly #exponent: number
  #text: string | undefined

  private constructor(unscaled: bigint, exponent: number, format: QuantityFormat) {
    this.#unscaled = unscaled
    this.#exponent = unscaled === 0n ? 0 : exponent
    this.format = format
  }

  /** @throws MetaError `InvalidQuantity` with the stock server's message. */
  static parse(text: string): Quantity {
    const { negative, whole, fraction, suffix } = split(text)
    const { base, exponent, format } = interpret(suffix, text)
    if (whole.length + fraction.length > maxDigits) throw new MetaError('InvalidQuantity', text, numericError)
    let unscaled = BigInt(whole + fraction)
    let scale = -fraction.length
    let kept = format
    if (base === 2) unscaled <<= BigInt(exponent)
    else scale += exponent
    if (unscaled !== 0n && scale < -9) {
      unscaled = shiftDown(unscaled, -9 - scale)
      scale = -9
    }
    if (base === 2) {
      if (compare(unscaled, scale, maxInt64, 0) > 0) {
        unscaled = maxInt64
        scale = 0
      }
      if (unscaled !== 0n && compare(unscaled, scale, 1n, 0) < 0) kept = 'DecimalSI'
    }
    return new Quantity(negative ? -unscaled : unscaled, scale, kept)
  }

  /** A whole amount times a power of ten: `Quantity.of(5, -3)` is `5m`. */
  static of(value: number | bigint, exponent = 0, format: QuantityFormat = 'DecimalSI'): Quantity {
    const unscaled = BigInt(value)
    return exponent < -9 ? new Quantity(roundDown(unscaled, -9 - exponent), -9, format) : new Quantity(unscaled, exponent, format)
  }

  /** Whether the text is an amount. */
  static isValid(text: string): boolean {
    try {
      Quantity.parse(text)
      return true
    } catch (error) {
      if (error instanceof MetaError) return false
      throw error
    }
  }

  /** -1, 0 or 1. */
  sign(): number {
    return this.#unscaled === 0n ? 0 : this.#unscaled < 0n ? -1 : 1
  }

  isZero(): boolean {
    return this.#unscaled === 0n
  }

  /** Negative when this is less, 0 when equal, positive when greater; suffixes do not matter. */
  compare(other: Quantity): number {
    return compare(this.#unscaled, this.#exponent, other.#unscaled, other.#exponent)
  }

  equals(other: Quantity): boolean {
    return this.compare(other) === 0
  }

  /** The sum, in the format of this; in that of `other` when this is zero. */
  add(other: Quantity): Quantity {
    const exponent = Math.min(this.#exponent, other.#exponent)
    const sum = raise(this.#unscaled, this.#exponent - exponent) + raise(other.#unscaled, other.#exponent - exponent)
    return new Quantity(sum, exponent, this.isZero() ? other.format : this.format)
  }

  /** The difference, in the format of this; in that of `other` when this is zero. */
  sub(other: Quantity): Quantity {
    return this.add(other.neg()).withFormat(this.isZero() ? other.format : this.format)
  }

  neg(): Quantity {
    return new Quantity(-this.#unscaled, this.#exponent, this.format)
  }

  /** The product with a whole number. */
  mul(factor: number | bigint): Quantity {
    return new Quantity(this.#unscaled * BigInt(factor), this.#exponent, this.format)
  }

  /** The same amount, printed with other suffixes. */
  withFormat(format: QuantityFormat): Quantity {
    return format === this.format ? this : new Quantity(this.#unscaled, this.#exponent, format)
  }

  /** The amount in units of `10 ** exponent`, rounded away from zero. */
  scaledValue(exponent: number): bigint {
    const shift = this.#exponent - exponent
    if (shift >= 0) return raise(this.#unscaled, shift)
    return this.#unscaled < 0n ? -shiftDown(-this.#unscaled, -shift) : shiftDown(this.#unscaled, -shift)
  }

  /** Whole units, rounded away from zero. */
  value(): bigint {
    return this.scaledValue(0)
  }

  /** Thousandths, rounded away from zero. */
  milliValue(): bigint {
    return this.scaledValue(-3)
  }

  /** The amount rounded away from zero to a multiple of `10 ** exponent`, which is at least -9. */
  roundUp(exponent: number): Quantity {
    return this.#exponent >= exponent ? this : new Quantity(this.scaledValue(exponent), exponent, this.format)
  }

  /** The amount as a whole number of 64 bits; `undefined` when it is none. */
  asInt64(): bigint | undefined {
    if (this.#exponent > 19) return undefined
    const value = this.value()
    if (value > maxInt64 || value < minInt64) return undefined
    return compare(this.#unscaled, this.#exponent, value, 0) === 0 ? value : undefined
  }

  /** The nearest floating point number, for ratios and ordering by size only. */
  approximate(): number {
    return Number(`${this.#unscaled}e${this.#exponent}`)
  }

  /** The canonical text. */
  toString(): string {
    this.#text ??= this.#print()
    return this.#text
  }

  toJSON(): string {
    return this.toString()
  }

  #print(): string {
    if (this.#unscaled === 0n) return '0'
    if (this.format === 'BinarySI' && this.#isBinary()) return printBinary(this.value())
    let digits = this.#unscaled
    let exponent = this.#exponent
    while (digits % 10n === 0n) {
      digits /= 10n
      exponent++
    }
    while (exponent % 3 !== 0) {
      digits *= 10n
      exponent--
    }
    if (this.format === 'DecimalExponent') return exponent === 0 ? String(digits) : `${digits}e${exponent}`
    if (exponent > 18) return `${raise(digits, exponent - 18)}E`
    return `${digits}${decimalNames.get(exponent)}`
  }

  /** Whole, and at least 1024 either way: otherwise binary suffixes would round, or say nothing. */
  #isBinary(): boolean {
    const size = this.#unscaled < 0n ? -this.#unscaled : this.#unscaled
    return compare(size, this.#exponent, 1024n, 0) >= 0 && compare(this.#unscaled, this.#exponent, this.value(), 0) === 0
  }
}

/** The canonical text of an amount. @throws MetaError `InvalidQuantity` */
export function normalizeQuantity(text: string): string {
  return Quantity.parse(text).toString()
}

function printBinary(value: bigint): string {
  let digits = value
  let power = 0
  while (power < 6 && digits % 1024n === 0n) {
    digits /= 1024n
    power++
  }
  return `${digits}${binaryNames[power]}`
}

interface Parts {
  readonly negative: boolean
  readonly whole: string
  readonly fraction: string
  readonly suffix: string
}

/** Digits may be missing altogether, which counts as zero, as in the stock server. */
function split(text: string): Parts {
  const match = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/.exec(text)
  if (text === '' || match === null) throw new MetaError('InvalidQuantity', text, quantityFormatError)
  const whole = (match[2] as string).replace(/^0+/, '')
  return { negative: match[1] === '-', whole: whole === '' ? '0' : whole, fraction: match[3] ?? '', suffix: match[4] as string }
}

function interpret(suffix: string, text: string): { base: 2 | 10; exponent: number; format: QuantityFormat } {
  const decimal = decimalSuffixes.get(suffix)
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'DecimalSI' }
  const binary = suffix === '' ? -1 : binaryNames.indexOf(suffix)
  if (binary > 0) return { base: 2, exponent: binary * 10, format: 'BinarySI' }
  const exponent = /^[eE][+-]?[0-9]+$/.test(suffix) ? Number(suffix.slice(1)) : Number.NaN
  if (!(Math.abs(exponent) <= maxExponent)) throw new MetaError('InvalidQuantity', text, suffixError)
  return { base: 10, exponent, format: 'DecimalExponent' }
}

function raise(value: bigint, power: number): bigint {
  return power === 0 ? value : value * 10n ** BigInt(power)
}

/** Divides by a power of ten; a remainder rounds away from zero. The value is not negative. */
function shiftDown(value: bigint, power: number): bigint {
  const divisor = 10n ** BigInt(power)
  const quotient = value / divisor
  return quotient * divisor === value ? quotient : quotient + 1n
}

function roundDown(value: bigint, power: number): bigint {
  return value < 0n ? -shiftDown(-value, power) : shiftDown(value, power)
}

function compare(a: bigint, aExponent: number, b: bigint, bExponent: number): number {
  const exponent = Math.min(aExponent, bExponent)
  const left = raise(a, aExponent - exponent)
  const right = raise(b, bExponent - exponent)
  return left < right ? -1 : left > right ? 1 : 0
}
