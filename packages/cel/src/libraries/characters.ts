/** String operations by Unicode code points. */

/** Whether every UTF-16 unit is a character. */
function isPlain(text: string): boolean {
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xf800) === 0xd800) return false
  return true
}

/** A text with access by character index. */
export interface Characters {
  readonly length: number
  slice(start: number, end?: number): string
  /** Index of the first occurrence of `part` at or after `from`; -1 if absent. */
  indexOf(part: string, from?: number): number
  /** Index of the last occurrence at or before `from`. */
  lastIndexOf(part: string, from?: number): number
}

export function charactersOf(text: string): Characters {
  if (isPlain(text)) {
    return {
      length: text.length,
      slice: (start, end) => text.slice(start, end),
      indexOf: (part, from = 0) => text.indexOf(part, from),
      lastIndexOf: (part, from) => (from === undefined ? text.lastIndexOf(part) : text.lastIndexOf(part, from)),
    }
  }
  // Offset of each character.
  let starts = new Uint32Array(text.length)
  let count = 0
  for (let i = 0; i < text.length; ) {
    starts[count++] = i
    i += (text.codePointAt(i) as number) > 0xffff ? 2 : 1
  }
  starts = starts.subarray(0, count)
  const at = (index: number) => (index >= starts.length ? text.length : (starts[index] as number))
  const numberOf = (unit: number) => {
    if (unit < 0) return -1
    let low = 0
    let high = starts.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((starts[middle] as number) < unit) low = middle + 1
      else high = middle
    }
    return low
  }
  return {
    length: starts.length,
    slice: (start, end) => text.slice(at(start), end === undefined ? undefined : at(end)),
    indexOf: (part, from = 0) => numberOf(text.indexOf(part, at(from))),
    lastIndexOf: (part, from) => numberOf(from === undefined ? text.lastIndexOf(part) : text.lastIndexOf(part, at(from))),
  }
}

const white = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

/** Trims Unicode white space at both ends. */
export function trimmed(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && white.test(text[start] as string)) start++
  while (end > start && white.test(text[end - 1] as string)) end--
  return text.slice(start, end)
}

/** Converts ASCII letters only. */
export function lowerAscii(text: string): string {
  return isAscii(text) ? text.toLowerCase() : shifted(text, { first: 65, by: 32 })
}

export function upperAscii(text: string): string {
  return isAscii(text) ? text.toUpperCase() : shifted(text, { first: 97, by: -32 })
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false
  return true
}

/** Number of characters converted or split in one step: about a millisecond. */
const stepLength = 8192

/** Called with `apply`: spreading would use the array iterator, which is slow. */
const { fromCharCode } = String

/** Adds `by` to the 26 letters starting at `first`. */
function shifted(text: string, { first, by }: { readonly first: number; readonly by: number }): string {
  let result = ''
  for (let from = 0; from < text.length; from += stepLength) {
    const units = new Uint16Array(Math.min(stepLength, text.length - from))
    for (let i = 0; i < units.length; i++) {
      const unit = text.charCodeAt(from + i)
      units[i] = unit >= first && unit < first + 26 ? unit + by : unit
    }
    result += fromCharCode.apply(null, units as unknown as number[])
  }
  return result
}

/** Yields the characters of a string, a few thousand at a time. */
function* characterRuns(text: string): Generator<string[]> {
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = Math.min(from + stepLength, text.length)
    // Does not split a surrogate pair.
    if ((text.codePointAt(to - 1) as number) > 0xffff) to++
    yield Array.from(text.slice(from, to))
  }
}

/** Splits into at most `limit` parts; a negative limit is unlimited. */
export function* splitText(text: string, separator: string, limit: number): Generator<true, string[]> {
  if (limit === 0) return []
  let parts: string[] = []
  if (separator !== '') {
    parts = text.split(separator)
    if (parts.length > stepLength) yield true
  } else {
    for (const run of characterRuns(text)) {
      for (const char of run) parts.push(char)
      if (run.length >= stepLength / 2) yield true
    }
  }
  if (limit < 0 || parts.length <= limit) return parts
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)]
}

/** Replaces up to `limit` occurrences; a negative limit is unlimited. */
export function* replaceText(
  text: string,
  part: string,
  { by, limit }: { readonly by: string; readonly limit: number },
): Generator<true, string> {
  if (limit === 0) return text
  if (part !== '') return (yield* splitText(text, part, limit < 0 ? -1 : limit + 1)).join(by)
  // The empty text occurs before each character and at the end.
  let result = ''
  let left = limit < 0 ? Number.POSITIVE_INFINITY : limit
  for (const run of characterRuns(text)) {
    const chars = run.slice(0, left).join(by)
    const rest = run.slice(left).join('')
    result += left > 0 ? `${by}${chars}${rest}` : rest
    left -= Math.min(left, run.length)
    if (run.length >= stepLength / 2) yield true
  }
  return left > 0 ? result + by : result
}

/** The backslash comes first, because the other escapes add backslashes. */
const escapes: readonly (readonly [string, string])[] = [
  ['\\', '\\\\'],
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['"', '\\"'],
]

/** Quotes a text as a literal. */
export function quoted(text: string): string {
  // One replacement per character: a replacer function takes ten times as long.
  let result = wellFormed(text)
  for (const [char, escaped] of escapes) result = result.split(char).join(escaped)
  return `"${result}"`
}

/** Replaces lone surrogates. */
function wellFormed(text: string): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text))
}
