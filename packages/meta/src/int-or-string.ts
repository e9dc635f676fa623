/** IntOrString: an integer, or text such as a percentage or a port name. */

import { type GoText, goQuote, goText } from './go-text.ts'
import { MetaError } from './meta-error.ts'

/** A 32-bit integer, or text. */
export type IntOrString = number | string

/**
 * Converts decimal text to a number; returns other text unchanged.
 *
 * @example
 * import { parseIntOrString } from '@krmkit/meta/int-or-string'
 * parseIntOrString('80') // 80
 * parseIntOrString('http') // 'http'
 */
export function parseIntOrString(text: string): IntOrString {
  if (!/^[+-]?[0-9]+$/.test(text)) return text
  const value = Number(text)
  return value >= -(2 ** 31) && value < 2 ** 31 ? value : text
}

/**
 * Returns the integer, also of decimal text; 0 for other text.
 *
 * @example
 * import { intValue } from '@krmkit/meta/int-or-string'
 * intValue('80') // 80
 * intValue('http') // 0
 */
export function intValue(value: IntOrString): number {
  if (typeof value === 'number') return value
  const parsed = parseIntOrString(value)
  return typeof parsed === 'number' ? parsed : 0
}

/**
 * Returns the percentage; `undefined` for a number.
 *
 * @throws MetaError `InvalidIntOrString` for other text.
 * @example
 * import { parsePercent } from '@krmkit/meta/int-or-string'
 * parsePercent('25%') // 25
 * parsePercent(3) // undefined
 */
export function parsePercent(value: IntOrString): number | undefined {
  if (typeof value === 'number') return undefined
  if (!value.endsWith('%')) fail(value, 'invalid type: string is not a percentage')
  const digits = value.slice(0, -1)
  if (!/^[+-]?[0-9]+$/.test(digits))
    fail(value, `invalid value ${goQuote(value)}: strconv.Atoi: parsing ${goQuote(digits)}: invalid syntax`)
  return Number(digits)
}

/**
 * Returns the integer, or the percentage of `total`.
 *
 * @throws MetaError `InvalidIntOrString`
 * @example
 * import { scaledValue } from '@krmkit/meta/int-or-string'
 * scaledValue('25%', 10, { roundUp: true }) // 3
 * scaledValue(4, 10, { roundUp: true }) // 4
 */
export function scaledValue(value: IntOrString, total: number, { roundUp }: { readonly roundUp: boolean }): number {
  const percent = parsePercent(value)
  if (percent === undefined) return value as number
  return roundUp ? Math.ceil((percent * total) / 100) : Math.floor((percent * total) / 100)
}

/**
 * Formats the value as in messages of kube-apiserver.
 *
 * @example
 * import { goIntOrString } from '@krmkit/meta/int-or-string'
 * String(goIntOrString(80)) // 'intstr.IntOrString{Type:0, IntVal:80, StrVal:""}'
 */
export function goIntOrString(value: IntOrString): GoText {
  const [type, int, text] = typeof value === 'number' ? [0, value, ''] : [1, 0, value]
  return goText(`intstr.IntOrString{Type:${type}, IntVal:${int}, StrVal:${goQuote(text)}}`)
}

function fail(value: string, message: string): never {
  throw new MetaError({ code: 'InvalidIntOrString', message: `invalid value for IntOrString: ${message}`, text: value })
}
