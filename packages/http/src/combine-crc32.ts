/**
 * The checksum of a concatenation (RFC 1952, section 8) from those of its parts: each following byte multiplies the preceding polynomial
 * by x^8.
 */

/** Bits in reversed order, as in the checksum: the highest bit is the coefficient of 1, the next that of x. */
const polynomial = 0xedb88320
const one = 0x80000000

/** Returns the checksum of a concatenation from those of its two parts and the length of the second. */
export function combineCrc32(first: number, second: number, secondLength: number): number {
  return (multiply(powerOfByte(secondLength), first) ^ second) >>> 0
}

/** x^(8 times 2^k). */
const squares: number[] = [0x00800000]

/** x^(8n), modulo the polynomial. */
function powerOfByte(n: number): number {
  let power = one
  for (let rest = n, k = 0; rest > 0; rest = Math.floor(rest / 2), k++) {
    squares[k] ??= multiply(squares[k - 1] as number, squares[k - 1] as number)
    if (rest % 2 === 1) power = multiply(power, squares[k] as number)
  }
  return power
}

/** The product of two polynomials, modulo that of the checksum. */
function multiply(a: number, b: number): number {
  let product = 0
  let shifted = b
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= shifted
    shifted = shifted & 1 ? (shifted >>> 1) ^ polynomial : shifted >>> 1
  }
  return product >>> 0
}
