import { shortestFloat } from '@krmkit/meta/go-text'

/** Numbers as Go prints and parses them. */

/** Formats like `%g` with the shortest digits that round-trip; uses an exponent below 1e-4 and from 1e+06. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  return shortestFloat(value)
}

/** Formats without an exponent. */
export function plainText(value: number): string {
  const text = String(value)
  const found = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text)
  if (found === null) return text
  const [, sign = '', whole = '', fraction = '', power = '0'] = found
  const digits = whole + fraction
  const point = 1 + Number(power)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return sign + (digits.length <= point ? digits.padEnd(point, '0') : `${digits.slice(0, point)}.${digits.slice(point)}`)
}

/** Formats with a fixed number of decimals; ties round to even. */
export function fixedText(value: number, digits: number): string {
  const { mantissa, exponent } = exactParts(Math.abs(value))
  const scaled = mantissa * 10n ** BigInt(digits)
  const whole = exponent >= 0 ? scaled << BigInt(exponent) : roundedShift(scaled, BigInt(-exponent))
  const text = whole.toString().padStart(digits + 1, '0')
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`
}

function roundedShift(value: bigint, bits: bigint): bigint {
  const quotient = value >> bits
  const rest = value - (quotient << bits)
  const half = 1n << (bits - 1n)
  return rest > half || (rest === half && (quotient & 1n) === 1n) ? quotient + 1n : quotient
}

/** Decomposes a number to `mantissa * 2 ** exponent`. */
function exactParts(value: number): { mantissa: bigint; exponent: number } {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  const bits = view.getBigUint64(0)
  const power = Number((bits >> 52n) & 0x7ffn)
  const fraction = bits & 0xfffffffffffffn
  return power === 0 ? { mantissa: fraction, exponent: -1074 } : { mantissa: fraction | (1n << 52n), exponent: power - 1075 }
}

const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const infinite = /^[+-]?inf(?:inity)?$/i
const hexadecimal = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d{1,6})$/

/** `undefined` for text that is not a number, or out of range. */
export function readFloat(text: string): number | undefined {
  if (decimal.test(text)) {
    const value = Number(text)
    return Number.isFinite(value) ? value : undefined
  }
  if (infinite.test(text)) return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  if (/^nan$/i.test(text)) return Number.NaN
  const found = hexadecimal.exec(text)
  if (found === null || text.length > 64) return undefined
  const [, sign = '', whole = '', fraction = '', power = '0'] = found
  if (whole + fraction === '') return undefined
  const value = Number.parseInt(whole + fraction, 16) * 2 ** (Number(power) - 4 * fraction.length)
  return Number.isFinite(value) ? (sign === '-' ? -value : value) : undefined
}
