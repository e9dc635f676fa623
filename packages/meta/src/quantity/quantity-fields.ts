import { Quantity } from './quantity.ts'
import { isPrintedAsWritten, isShort, nano, type QuantityFormat, splitQuantity } from './quantity-text.ts'

const maxInt64 = 2n ** 63n - 1n
const minInt64 = -(2n ** 63n)

/** The fields of the stock library's quantity, which some messages show. */
export interface QuantityFields {
  /** The amount is `value * 10 ** scale`, unless it is a `decimal`. */
  readonly value: bigint
  readonly scale: number
  /** Digits of an amount beyond the precision of the shortcut, down to nano units. */
  readonly decimal: string | undefined
  /** The text, if it is canonical; empty otherwise. */
  readonly text: string
  readonly format: QuantityFormat
}

/**
 * The fields that the stock library gives a quantity when it parses `text`.
 *
 * @throws MetaError `InvalidQuantity`
 * @example
 * import { readQuantityFields } from '@krmkit/meta/quantity'
 * readQuantityFields('1Gi').value // 1073741824n
 * readQuantityFields('0.5').scale // -1
 */
export function readQuantityFields(text: string): QuantityFields {
  if (text === '0') return { value: 0n, scale: 0, decimal: undefined, text, format: 'DecimalSI' }
  const parts = splitQuantity(text)
  const digits = BigInt(parts.whole + parts.fraction)
  const magnitude = parts.base === 2 ? digits << BigInt(parts.exponent) : digits
  const value = parts.negative ? -magnitude : magnitude
  if (isShort(parts) && value >= minInt64 && value <= maxInt64) {
    const scale = (parts.base === 2 ? 0 : parts.exponent) - parts.fraction.length
    return { value, scale, decimal: undefined, text: isPrintedAsWritten(parts) ? text : '', format: parts.format }
  }
  const quantity = Quantity.parse(text)
  return { value: 0n, scale: 0, decimal: decimalText(quantity.scaledValue(nano)), text: '', format: quantity.format }
}

/** A number of nano units as a decimal number of units. */
function decimalText(nanos: bigint): string {
  const digits = String(nanos < 0n ? -nanos : nanos).padStart(1 - nano, '0')
  return `${nanos < 0n ? '-' : ''}${digits.slice(0, nano)}.${digits.slice(nano)}`
}
