/** Resource quantities. */
import { Quantity } from '@krmkit/meta'
import type { FieldPath } from './field-path.ts'
import { notNegative } from './numbers.ts'
import { own } from './values.ts'

const zero = Quantity.parse('0')

/** Parses a decoded, and therefore well-formed, quantity; absent counts as zero. */
export function amount(text: string | undefined): Quantity {
  return text === undefined || text === '' ? zero : Quantity.parse(text)
}

/** Negative, 0 or positive. */
export function sign(value: Quantity): number {
  return value.sign()
}

/** Compares quantities: negative if `a` is smaller. */
export function compareAmounts(a: string | undefined, b: string | undefined): number {
  return a === b ? 0 : amount(a).compare(amount(b))
}

/** Reports a negative quantity. */
export function validateAmountNotNegative(text: string, at: FieldPath): void {
  if (sign(amount(text)) < 0) at.invalid(amount(text).toString(), notNegative)
}

/** Whether the quantity is an integer, to the thousandth. */
export function isWhole(value: Quantity): boolean {
  return value.milliValue() % 1000n === 0n
}

const binarySuffixes: Readonly<Record<string, bigint>> = { Ki: 1n, Mi: 2n, Gi: 3n, Ti: 4n, Pi: 5n, Ei: 6n }
const decimalSuffixes: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }

/** A quantity as Go prints its struct in some messages. */
export function printAmount(text: string): string {
  const canonical = amount(text).toString()
  const match = /^([+-]?\d+)(?:[eE]([+-]?\d+)|([a-zA-Z]*))$/.exec(canonical)
  const [, digits = '0', exponent, suffix = ''] = match ?? []
  const power = own(binarySuffixes, suffix)
  const format = exponent !== undefined ? 'DecimalExponent' : power === undefined ? 'DecimalSI' : 'BinarySI'
  const scale = exponent === undefined ? (decimalSuffixes[suffix] ?? 0) : Number(exponent)
  // Binary amounts are kept as a number of bytes.
  const value = BigInt(digits) * 1024n ** (power ?? 0n)
  const parts = `value:${value}, scale:${scale}`
  return `resource.Quantity{i:resource.int64Amount{${parts}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"${canonical}", Format:"${format}"}`
}
