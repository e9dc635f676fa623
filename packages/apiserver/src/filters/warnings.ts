import type { Filter } from '../request-context.ts'

const maxWarningCharacters = 256
const maxTotalCharacters = 4096

/**
 * Puts warnings into `Warning` headers: each text once; long ones are cut when together they would be too much.
 *
 * @see API protocol specification, 6 and 8
 */
export function warnings(): Filter {
  return async (context, next) => {
    const response = await next()
    return context.warnings.length === 0
      ? response
      : { ...response, headers: { ...response.headers, warning: warningHeaders(context.warnings) } }
  }
}

/**
 * @returns complete header values such as `299 - "text"`. Characters are code points, which are never cut in two. What no header can
 * hold is left out, as by the stock server.
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

/** Control characters: a line end would begin another header. */
const controlCharacter = /\p{Cc}/u

/** A quoted string of a header, quotes and backslashes escaped. */
function quotedString(characters: readonly string[]): string {
  let out = ''
  for (const character of characters) {
    out += character === '"' || character === '\\' ? `\\${character}` : character
  }
  return `"${out}"`
}
