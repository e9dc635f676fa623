/**
 * A number, or text such as a percentage or the name of a port.
 */

import { type GoText, goQuote, goText } from './go-text.ts'
import { MetaError } from './meta-error.ts'

/** A 32-bit number or text. */
export type IntOrString = number | string

/** Text of digits becomes a number; other text stays. */
export function parseIntOrString(text: string): IntOrString {
  if (!/^[+-]?[0-9]+$/.test(text)) return text
  const value = Number(text)
  return value >= -(2 ** 31) && value < 2 ** 31 ? value : text
}

/** The number, or the number that the text is; 0 for other text. */
export function intValue(value: IntOrString): number {
  if (typeof value === 'number') return value
  const parsed = parseIntOrString(value)
  return typeof parsed === 'number' ? parsed : 0
}

/** Whole percents, or `undefined` for a number. @throws MetaError `InvalidIntOrString` for other text. */
export function percentOf(value: IntOrString): number | undefined {
  if (typeof value === 'number') return undefined
  if (!value.endsWith('%')) refuse(value, 'invalid type: string is not a percentage')
  const digits = value.slice(0, -1)
  if (!/^[+-]?[0-9]+$/.test(digits))
    refuse(value, `invalid value ${goQuote(value)}: strconv.Atoi: parsing ${goQuote(digits)}: invalid syntax`)
  return Number(digits)
}

/** The number, or the share of `total` that a percentage stands for. @throws MetaError `InvalidIntOrString` */
export function scaledValue(value: IntOrString, total: number, { roundUp }: { readonly roundUp: boolean }): number {
  const percent = percentOf(value)
  if (percent === undefined) return value as number
  return roundUp ? Math.ceil((percent * total) / 100) : Math.floor((percent * total) / 100)
}

/** As messages of the stock server print it. */
export function goIntOrString(value: IntOrString): GoText {
  const [type, int, text] = typeof value === 'number' ? [0, value, ''] : [1, 0, value]
  return goText(`intstr.IntOrString{Type:${type}, IntVal:${int}, StrVal:${goQuote(text)}}`)
}

function refuse(value: string, message: string): never {
  throw new MetaError('InvalidIntOrString', value, `invalid value for IntOrString: ${message}`)
}
