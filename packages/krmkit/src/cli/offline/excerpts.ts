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
  let same = 0
  while (same < a.length && same < b.length && a[same] === b[same]) same++
  // The last character of a part may be dropped as half of a pair.
  const isVisible = a === b || same < maxLength - 1
  // Half of each part is the text before the difference.
  const from = isVisible ? 0 : same - Math.floor(maxLength / 2)
  return [part(a, from, maxLength), part(b, from, maxLength)]
}

function part(text: string, from: number, maxLength: number): string {
  const start = boundary(text, from)
  const end = boundary(text, Math.min(text.length, start + maxLength))
  return `${start > 0 ? '...' : ''}${text.slice(start, end)}${end < text.length ? '...' : ''}`
}

/** Moves a position out of a pair of surrogates. */
function boundary(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return at > 0 && code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}
