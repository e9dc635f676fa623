import { memberNames } from '@krmkit/base/work'

/** Size limits of the page. */

const maxTextCharacters = 2000
const maxListItems = 500
/** Larger objects are not shown. */
const maxObjectCharacters = 32 * 1024
/** Size that a value counts in addition to its text. */
const valueCharacters = 16

export function shortened(text: string): string {
  return text.length > maxTextCharacters ? `${text.slice(0, maxTextCharacters)}...` : text
}

/** Truncates the strings and the list. */
export function shortenedList(texts: readonly string[]): string[] {
  const kept = texts.slice(0, maxListItems).map(shortened)
  return texts.length > maxListItems ? [...kept, `... and ${texts.length - maxListItems} more`] : kept
}

/** Estimates how large a value is as JSON. */
export function charactersOf(value: unknown): number {
  return weigh(value, Number.POSITIVE_INFINITY)
}

/** Whether an object is too large to show. */
export function isHeavy(object: object | undefined): boolean {
  return weigh(object, maxObjectCharacters) > maxObjectCharacters
}

/** Adds up the size of a value, and stops once the limit is exceeded. */
function weigh(value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length + valueCharacters
  if (typeof value !== 'object' || value === null) return valueCharacters
  let sum = valueCharacters
  for (const name of memberNames(value)) {
    sum += name.length + weigh((value as Record<string, unknown>)[name], limit - sum)
    if (sum > limit) break
  }
  return sum
}
