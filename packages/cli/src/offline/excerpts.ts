/** Parts of long texts, for lines of a report. */

/** Returns the beginning of a text that is longer than `maxLength`. */
export function excerpt(text: string, maxLength: number): string {
  return part(text, 0, maxLength)
}

/**
 * Returns the parts of two texts where they first differ, so that different texts never look alike. Texts that fit are returned whole.
 *
 * @param maxLength length of each part, without the dots at its ends
 */
export function differingExcerpts(a: string, b: string, maxLength: number): readonly [string, string] {
  if (a.length <= maxLength && b.length <= maxLength) return [a, b]
  const same = boundary(a, commonLength(a, b))
  // The last character of a part may be dropped as half of a pair.
  const isVisible = a === b || same < maxLength - 1
  // Half of each part is the text before the difference.
  const from = isVisible ? 0 : same - Math.floor(maxLength / 2)
  return [part(a, from, maxLength), part(b, from, maxLength)]
}

function commonLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && length < b.length && a[length] === b[length]) length++
  return length
}

function part(text: string, from: number, maxLength: number): string {
  // A start inside a pair moves forward: moved back, a short part could end before the difference.
  const start = boundary(text, from) < from ? from + 1 : from
  const end = boundary(text, Math.min(text.length, start + maxLength))
  return `${start > 0 ? '...' : ''}${text.slice(start, end)}${end < text.length ? '...' : ''}`
}

/** Moves a position inside a pair of surrogates to its start. */
function boundary(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return at > 0 && code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}
