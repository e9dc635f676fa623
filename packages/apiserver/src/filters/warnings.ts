import type { Filter } from '../request/context.ts'

const maxWarningCharacters = 256
const maxTotalCharacters = 4096

/**
 * Adds `Warning` headers, without duplicates. Long texts are truncated when the total exceeds 4096 characters.
 *
 * @see API protocol specification, 6 and 8
 */
export function warnings(): Filter {
  return async (context, next) => {
    const response = await next(context)
    return context.warnings.length === 0
      ? response
      : { ...response, headers: { ...response.headers, warning: warningHeaders(context.warnings) } }
  }
}

/**
 * @returns header values such as `299 - "text"`. Characters are code points, so that none is split. Texts with control characters are
 * omitted, as on kube-apiserver.
 */
export function warningHeaders(texts: readonly string[]): string[] {
  const unique = [...new Set(texts)].filter((text) => text !== '' && !controlCharacter.test(text)).map((text) => [...text])
  const cut = unique.reduce((sum, { length }) => sum + length, 0) > maxTotalCharacters
  const values: string[] = []
  let sum = 0
  for (const characters of unique) {
    if (sum >= maxTotalCharacters) break
    const shown = cut ? characters.slice(0, maxWarningCharacters) : characters
    sum += shown.length
    values.push(`299 - ${quotedString(shown)}`)
  }
  return values
}

/** Matches control characters: a line break would start another header. */
const controlCharacter = /\p{Cc}/u

/** A quoted string with escaped quotes and backslashes. */
function quotedString(characters: readonly string[]): string {
  let out = ''
  for (const character of characters) {
    out += character === '"' || character === '\\' ? `\\${character}` : character
  }
  return `"${out}"`
}
