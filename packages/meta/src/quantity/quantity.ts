/** Resource quantities: `100m`, `1.5Gi`, `12e6`. Exact, with one canonical text form. */

import { MetaError } from '../meta-error.ts'
import {
  formatBinary,
  formatDecimal,
  isPrintedAsWritten,
  isShort,
  nano,
  type QuantityFormat,
  splitQuantity,
} from './quantity-text.ts'

const maxInt64 = 2n ** 63n - 1n
const minInt64 = -(2n ** 63n)
/** Largest power of ten in 64 bits. */
const maxInt64Exponent = 18

/**
 * An immutable quantity: `unscaled * 10 ** exponent`, never finer than 1e-9.
 *
 * The text form keeps the parsed family of suffixes unless that would lose precision, with the largest suffix that yields an
 * integer: `1500m` stays, `1000m` is `1`, `1024Mi` is `1Gi`, `0.5Gi` is `512Mi`.
 *
 * @example
 * import { Quantity } from '@krmkit/meta'
 * String(Quantity.parse('0.5Gi').add(Quantity.parse('512Mi'))) // '1Gi'
 */
export class Quantity {
  readonly format: QuantityFormat
  readonly #unscaled: bigint
  readonly #exponent: number
  /** Whether the Go library represents the amount in nano units, which affects `approximate`. */
  readonly #isLong: boolean
  #text: string | undefined

  private constructor(unscaled: bigint, exponent: number, format: QuantityFormat, isLong = false) {
    this.#unscaled = unscaled
    this.#exponent = unscaled === 0n ? Math.min(exponent, 0) : exponent
    this.#isLong = isLong
    this.format = format
  }

  /** @throws MetaError `InvalidQuantity` with the message of kube-apiserver. */
  static parse(text: string): Quantity {
    const parts = splitQuantity(text)
    let unscaled = BigInt(parts.whole + parts.fraction)
    let exponent = -parts.fraction.length
    let { format } = parts
    if (parts.base === 2) unscaled <<= BigInt(parts.exponent)
    else exponent += parts.exponent
    if (exponent < nano) {
      unscaled = divideUp(unscaled, nano - exponent)
      exponent = nano
    }
    if (parts.base === 2) {
      if (compare(unscaled, exponent, maxInt64, 0) > 0) {
        unscaled = maxInt64
        exponent = 0
      }
      if (unscaled !== 0n && compare(unscaled, exponent, 1n, 0) < 0) format = 'DecimalSI'
    }
    const quantity = new Quantity(parts.negative ? -unscaled : unscaled, exponent, format, !isShort(parts))
    if (isPrintedAsWritten(parts)) quantity.#text = text
    return quantity
  }

  /** An integer number of units of `10 ** exponent`: `Quantity.of(5, -3)` is `5m`. */
  static of(value: number | bigint, exponent = 0, format: QuantityFormat = 'DecimalSI'): Quantity {
    const unscaled = BigInt(value)
    return exponent < nano
      ? new Quantity(rescale(unscaled, exponent, nano), nano, format)
      : new Quantity(unscaled, exponent, format)
  }

  /** Whether the text is a quantity. */
  static isValid(text: string): boolean {
    try {
      splitQuantity(text)
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

  /** Negative when less than `other`, 0 when equal, positive when greater, regardless of suffixes. */
  compare(other: Quantity): number {
    return compare(this.#unscaled, this.#exponent, other.#unscaled, other.#exponent)
  }

  equals(other: Quantity): boolean {
    return this.compare(other) === 0
  }

  /** The sum, in the format of this quantity, or of `other` when this one is zero. */
  add(other: Quantity): Quantity {
    if (other.isZero()) return this.withFormat(this.isZero() ? other.format : this.format)
    if (this.isZero()) return other.withFormat(other.format)
    const exponent = Math.min(this.#exponent, other.#exponent)
    const sum = raise(this.#unscaled, this.#exponent - exponent) + raise(other.#unscaled, other.#exponent - exponent)
    return new Quantity(sum, exponent, this.format, this.#isLong || other.#isLong)
  }

  /** The difference, in the format of this quantity, or of `other` when this one is zero. */
  sub(other: Quantity): Quantity {
    return this.add(other.neg())
  }

  neg(): Quantity {
    return new Quantity(-this.#unscaled, this.#exponent, this.format, this.#isLong)
  }

  /** The product with an integer. */
  mul(factor: number | bigint): Quantity {
    return new Quantity(this.#unscaled * BigInt(factor), this.#exponent, this.format)
  }

  /** The same amount in a format, printed canonically. */
  withFormat(format: QuantityFormat): Quantity {
    return new Quantity(this.#unscaled, this.#exponent, format, this.#isLong)
  }

  /** The amount in units of `10 ** exponent`, rounded away from zero. */
  scaledValue(exponent: number): bigint {
    return rescale(this.#unscaled, this.#exponent, exponent)
  }

  /** The amount in units, rounded away from zero. */
  value(): bigint {
    return this.scaledValue(0)
  }

  /** The amount in thousandths, rounded away from zero. */
  milliValue(): bigint {
    return this.scaledValue(-3)
  }

  /** The amount rounded away from zero to a multiple of `10 ** exponent`. */
  roundUp(exponent: number): Quantity {
    return this.#exponent >= exponent ? this : new Quantity(this.scaledValue(exponent), exponent, this.format)
  }

  /**
   * The amount as a 64-bit integer. As in the Go library, `undefined` also for integers with a fraction or more than 18 digits, and for sums
   * of amounts with a fraction: `1.0`, `1000m`, `0.5 + 0.5`.
   */
  asInt64(): bigint | undefined {
    const fits = (value: bigint) => value <= maxInt64 && value >= minInt64
    if (this.#isLong || this.#exponent < 0 || !fits(this.#unscaled)) return undefined
    const value = this.#exponent > maxInt64Exponent && !this.isZero() ? undefined : this.value()
    return value !== undefined && fits(value) ? value : undefined
  }

  /**
   * A floating point number near the amount, for ratios and ordering only. Like the Go library, it multiplies the digits by
   * a power of ten, so the result is not always the nearest number: 0.3 is 0.30000000000000004.
   */
  approximate(): number {
    if (this.#exponent > maxFloatExponent) return this.sign() * Number.POSITIVE_INFINITY
    const exponent = this.#isLong && !this.isZero() ? nano : this.#exponent
    const digits = Number(raise(this.#unscaled, this.#exponent - exponent))
    return exponent === 0 ? digits : digits * powerOfTen(exponent)
  }

  /**
   * The text printed by kube-apiserver: the canonical form, except that some parsed texts keep a redundant sign, zero or
   * capital `E` (`+5`, `1.500`, `1E3`).
   */
  toString(): string {
    this.#text ??= this.canonical()
    return this.#text
  }

  toJSON(): string {
    return this.toString()
  }

  /** The canonical text: equal amounts of one format have equal text. */
  canonical(): string {
    if (this.#unscaled === 0n) return '0'
    if (this.format === 'BinarySI' && this.#isBinary()) return formatBinary(this.value())
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
    return formatDecimal(digits, exponent, this.format)
  }

  /** Whether binary suffixes apply: the amount is an integer of magnitude 1024 or more. */
  #isBinary(): boolean {
    const size = this.#unscaled < 0n ? -this.#unscaled : this.#unscaled
    return compare(size, this.#exponent, 1024n, 0) >= 0 && compare(this.#unscaled, this.#exponent, this.value(), 0) === 0
  }
}

/** Maximum exponent of a floating point number. */
const maxFloatExponent = 308

/** Powers of ten, rounded to the nearest number where not exact. */
const smallPowers = Array.from({ length: 32 }, (_, exponent) => Number(`1e${exponent}`))

/**
 * The power of ten as Go's math library computes it: the product of the nearest numbers to a power below 32 and a multiple of 32, or
 * their quotient for negative exponents.
 */
function powerOfTen(exponent: number): number {
  if (exponent > 308) return Number.POSITIVE_INFINITY
  if (exponent < -323) return 0
  const size = Math.abs(exponent)
  const small = smallPowers[size % 32]!
  const large = size - (size % 32)
  return exponent > 0 ? Number(`1e${large}`) * small : Number(`1e-${large}`) / small
}

/**
 * The text of a quantity in JSON, which may be a number or have surrounding spaces, as printed by kube-apiserver.
 *
 * @throws MetaError `InvalidQuantity`
 * @example
 * import { normalizeQuantity } from '@krmkit/meta/quantity'
 * normalizeQuantity('0.5Gi') // '512Mi'
 * normalizeQuantity(1.5) // '1500m'
 */
export function normalizeQuantity(value: string | number | bigint): string {
  return Quantity.parse(String(value).trim()).toString()
}

function raise(value: bigint, power: number): bigint {
  return power === 0 ? value : value * 10n ** BigInt(power)
}

/** Divides a non-negative value by a power of ten, rounding up. */
function divideUp(value: bigint, power: number): bigint {
  const divisor = 10n ** BigInt(power)
  const quotient = value / divisor
  return quotient * divisor === value ? quotient : quotient + 1n
}

/** Converts between units of powers of ten, rounding away from zero. */
function rescale(value: bigint, from: number, to: number): bigint {
  if (from >= to) return raise(value, from - to)
  return value < 0n ? -divideUp(-value, to - from) : divideUp(value, to - from)
}

function compare(a: bigint, aExponent: number, b: bigint, bExponent: number): number {
  const exponent = Math.min(aExponent, bExponent)
  const left = raise(a, aExponent - exponent)
  const right = raise(b, bExponent - exponent)
  return left < right ? -1 : left > right ? 1 : 0
}
