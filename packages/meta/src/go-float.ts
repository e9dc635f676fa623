/**
 * Formats a float in Go's shortest `g` format: with an exponent of at least two digits below 1e-4 and from 1e6 on.
 *
 * @example
 * import { shortestFloat } from '@krmkit/meta/go-text'
 * shortestFloat(2_000_000) // '2e+06'
 */
export function shortestFloat(value: number): string {
  if (Number.isNaN(value)) return '.nan'
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const [mantissa, exponentText] = value.toExponential().split('e') as [string, string]
  const exponent = Number(exponentText)
  if (exponent >= -4 && exponent < 6) return String(value)
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}

/** As {@link shortestFloat}, with the fewest digits that identify a 32-bit float. */
export function shortestFloat32(value: number): string {
  const single = Math.fround(value)
  if (single === 0) return shortestFloat(single)
  for (let digits = 1; digits < 10; digits++) {
    const candidate = Number(single.toPrecision(digits))
    if (Math.fround(candidate) === single) return shortestFloat(candidate)
  }
  return shortestFloat(single)
}
