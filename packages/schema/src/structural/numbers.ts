import { field, type JsonObject } from '@krmkit/meta'
import { GoText, goFloat } from '@krmkit/meta/go-text'
import { own } from '../json/json-object.ts'
import { type NumberRange, rangeProblem } from './formats.ts'
import type { Check } from './junctors.ts'
import { messagePath, numberOf } from './keywords.ts'
import { plainNumber, WholeFloat } from './whole-float.ts'

/**
 * Checks `multipleOf`, `minimum` and `maximum`, in this order. As on kube-apiserver, integers are compared with truncated
 * bounds and factors: no integer is a multiple of 0.5, because 0 is not a positive factor.
 *
 * @param range the range that values, bounds and factors must be in. A bound outside of it is compared as it is.
 */
export function numberCheck(schema: JsonObject, range?: NumberRange): Check | undefined {
  const factor = numberOf(schema, 'multipleOf')
  const max = numberOf(schema, 'maximum')
  const min = numberOf(schema, 'minimum')
  if (factor === undefined && max === undefined && min === undefined && range === undefined) return undefined
  const aboveMax = own(schema, 'exclusiveMaximum') === true
  const belowMin = own(schema, 'exclusiveMinimum') === true
  return (given, path, errors) => {
    const value = plainNumber(given)
    const isInteger = !(given instanceof WholeFloat) && (typeof value === 'bigint' || Number.isSafeInteger(value))
    const number = Number(value)
    const shownValue = given instanceof WholeFloat ? new GoText(goFloat(given.value)) : value
    const bad = (detail: string) =>
      errors.push(field.invalid(messagePath(path), shownValue, `${path} in body should be ${detail}`))
    const outside = (what: string, tested: number | bigint): boolean => {
      const problem = range === undefined ? undefined : rangeProblem(tested, range, { what, path })
      if (problem !== undefined) errors.push(field.invalid(undefined, '', problem))
      return problem !== undefined
    }
    const bound = (keyword: number, isOutside: boolean) => (isInteger && !isOutside ? integralPart(keyword) : keyword)
    outside('Checked', value as number | bigint)
    if (factor !== undefined) {
      const isOutside = outside('MultipleOf', factor)
      const shown = isInteger && !isOutside ? Number(integralPart(factor)) : factor
      if (shown <= 0) {
        const detail = `factor MultipleOf declared for ${path} must be positive: ${text(bound(factor, isOutside))}`
        errors.push(field.invalid(messagePath(path), shown, detail))
      } else if (isInteger && !isOutside ? BigInt(value as number | bigint) % BigInt(shown) !== 0n : !isMultiple(number, factor))
        bad(`a multiple of ${text(bound(factor, isOutside))}`)
    }
    if (min !== undefined) {
      const least = bound(min, outside('Minimum boundary', min))
      const compared = isInteger ? (value as number | bigint) : number
      if (belowMin ? compared <= least : compared < least) bad(`greater than ${belowMin ? '' : 'or equal to '}${text(least)}`)
    }
    if (max !== undefined) {
      const most = bound(max, outside('Maximum boundary', max))
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
