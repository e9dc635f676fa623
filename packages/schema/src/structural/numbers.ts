import { field, type JsonObject } from '@krmkit/meta'
import { GoText, goFloat } from '@krmkit/meta/go-text'
import { own } from '../json/json-object.ts'
import type { Check } from './junctors.ts'
import { messagePath, numberOf } from './keywords.ts'
import { plainNumber, WholeFloat } from './whole-float.ts'

/**
 * Checks `multipleOf`, `minimum` and `maximum`, in this order. As on kube-apiserver, integers are compared with truncated
 * bounds and factors: no integer is a multiple of 0.5, because 0 is not a positive factor.
 */
export function numberCheck(schema: JsonObject): Check | undefined {
  const factor = numberOf(schema, 'multipleOf')
  const max = numberOf(schema, 'maximum')
  const min = numberOf(schema, 'minimum')
  if (factor === undefined && max === undefined && min === undefined) return undefined
  const aboveMax = own(schema, 'exclusiveMaximum') === true
  const belowMin = own(schema, 'exclusiveMinimum') === true
  return (given, path, errors) => {
    const value = plainNumber(given)
    const isInteger = !(given instanceof WholeFloat) && (typeof value === 'bigint' || Number.isSafeInteger(value))
    const number = Number(value)
    const shownValue = given instanceof WholeFloat ? new GoText(goFloat(given.value)) : value
    const bad = (detail: string) =>
      errors.push(field.invalid(messagePath(path), shownValue, `${path} in body should be ${detail}`))
    const bound = (keyword: number) => (isInteger ? integralPart(keyword) : keyword)
    if (factor !== undefined) {
      const shown = isInteger ? Number(integralPart(factor)) : factor
      if (shown <= 0) {
        const detail = `factor MultipleOf declared for ${path} must be positive: ${text(bound(factor))}`
        errors.push(field.invalid(messagePath(path), shown, detail))
      } else if (isInteger ? BigInt(value as number | bigint) % BigInt(shown) !== 0n : !isMultiple(number, factor))
        bad(`a multiple of ${text(bound(factor))}`)
    }
    if (min !== undefined) {
      const least = bound(min)
      const compared = isInteger ? (value as number | bigint) : number
      if (belowMin ? compared <= least : compared < least) bad(`greater than ${belowMin ? '' : 'or equal to '}${text(least)}`)
    }
    if (max !== undefined) {
      const most = bound(max)
      const compared = isInteger ? (value as number | bigint) : number
      if (aboveMax ? compared >= most : compared > most) bad(`less than ${aboveMax ? '' : 'or equal to '}${text(most)}`)
    }
    return 0
  }
}

const least64 = -(2n ** 63n)

/** Go's conversion to int64: numbers out of range become the least int64. */
function integralPart(value: number): bigint {
  const whole = BigInt(Math.trunc(value))
  return whole >= least64 && whole < -least64 ? whole : least64
}

function text(value: number | bigint): string {
  return typeof value === 'bigint' ? String(value) : goFloat(value)
}

/**
 * Whether a number is a multiple of a factor, within rounding errors. A quotient beyond the exact range of doubles does not
 * count as an integer.
 */
function isMultiple(value: number, factor: number): boolean {
  const times = factor < 1 ? (1 / factor) * value : value / factor
  if (!(Math.abs(times) <= Number.MAX_SAFE_INTEGER)) return false
  const whole = Math.trunc(times)
  const off = Math.abs(times - whole)
  return off === 0 || (whole > 0 && off / (times + whole) < 1e-9)
}
