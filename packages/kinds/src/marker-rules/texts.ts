/** Texts of errors as releases with rules print them: values as JSON, counts of one without a plural. */
import { type FieldError, field, type Path } from '@krmkit/meta'
import { type GoText, goQuote, goText } from '@krmkit/meta/go-text'

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

function error(path: Path | undefined, reason: FieldError['reason'], message: string): FieldError {
  return { field: path === undefined ? '<nil>' : String(path), reason, message }
}

export function tooLong(path: Path | undefined, max: number, unit: 'byte' | 'character'): FieldError {
  return error(path, 'FieldValueTooLong', `Too long: may not be more than ${counted(max, unit)}`)
}

export function tooShort(path: Path | undefined, min: number): FieldError {
  return error(path, 'FieldValueTooShort', `Too short: must be at least ${counted(min, 'character')}`)
}

export function tooMany(path: Path | undefined, actual: number, max: number): FieldError {
  return error(path, 'FieldValueTooMany', `Too many: ${actual}: must have at most ${counted(max, 'item')}`)
}

export function tooFew(path: Path | undefined, actual: number, min: number): FieldError {
  return error(path, 'FieldValueTooFew', `Too few: ${actual}: must have at least ${counted(min, 'item')}`)
}

/** A change that an update may not make; the error has no value. */
export function invalidChange(path: Path | undefined, detail: string): FieldError {
  return field.invalid(path, goText('null'), detail)
}

/** A value in an error: strings in the syntax of Go, others as JSON of Go. */
export function printed(value: unknown): string | GoText {
  if (typeof value === 'string') return value
  const escaped = JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? Number(each) : each)).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return goText(escaped)
}

/** The names of members between backquotes. */
export const quotedNames = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ')

/** A text between quotes, as Go prints it. */
export const quoted = goQuote
