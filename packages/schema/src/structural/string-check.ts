/** The rules of a schema for strings: lengths and a pattern. */

import type { Work } from '@krmkit/base/work'
import { compileLenient, maxSearchAtOnce, type Pattern } from '@krmkit/cel/pattern'
import { type FieldError, field, type JsonObject } from '@krmkit/meta'
import { utf8Length } from '@krmkit/meta/go-text'
import { own } from '../json/json-object.ts'
import { messagePath, numberOf } from './keywords.ts'

/** Maximum length of a pattern that compiles in well under a millisecond. */
const shortPattern = 256

/** The rules for strings. Reports the first violated one only. */
export class StringCheck {
  readonly hasRules: boolean
  readonly #max: number | undefined
  readonly #min: number | undefined
  readonly #source: string | undefined
  #pattern: Pattern | undefined

  constructor(schema: JsonObject) {
    const source = own(schema, 'pattern')
    this.#max = numberOf(schema, 'maxLength')
    this.#min = numberOf(schema, 'minLength')
    this.#source = typeof source === 'string' && source !== '' ? source : undefined
    this.hasRules = this.#max !== undefined || this.#min !== undefined || typeof source === 'string'
  }

  /** Whether compiling or matching the pattern takes more than a fraction of a slice. */
  takesLong(text: string): boolean {
    if (this.#source === undefined) return false
    if (this.#pattern === undefined && this.#source.length > shortPattern) return true
    this.#pattern ??= compileLenient(this.#source)
    return this.#pattern.size * text.length > maxSearchAtOnce
  }

  *check(text: string, path: string, errors: FieldError[]): Work {
    const max = this.#max
    const min = this.#min
    if (max !== undefined && text.length > max && codePoints(text) > max) errors.push(field.tooLong(messagePath(path), text, max))
    else if (min !== undefined && codePoints(text) < min)
      errors.push(field.invalid(messagePath(path), text, `${path} in body should be at least ${min} chars long`))
    else if (this.#source !== undefined && !(yield* this.#matches(this.#source, text)))
      errors.push(field.invalid(messagePath(path), text, `${path} in body should match '${this.#source}'`))
  }

  *#matches(source: string, text: string): Work<boolean> {
    if (this.#pattern === undefined) {
      if (source.length > shortPattern) yield true
      this.#pattern = compileLenient(source)
      if (this.#pattern.size > shortPattern) yield true
    }
    return yield* this.#pattern.search(text)
  }
}

function codePoints(text: string): number {
  if (utf8Length(text) === text.length) return text.length
  let count = 0
  for (const _ of text) count++
  return count
}
