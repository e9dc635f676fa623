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
  const starts: number[] = []
  for (let i = 0; i < text.length; ) {
    starts.push(i)
    i += (text.codePointAt(i) as number) > 0xffff ? 2 : 1
  }
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
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

export function upperAscii(text: string): string {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase())
}

/** Splits into at most `limit` parts; a negative limit is unlimited. */
export function split(text: string, separator: string, limit: number): string[] {
  if (limit === 0) return []
  const parts = separator === '' ? Array.from(text) : text.split(separator)
  if (limit < 0 || parts.length <= limit) return parts
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)]
}

/** Replaces up to `limit` occurrences; a negative limit is unlimited. */
export function replaceText(text: string, part: string, by: string, limit: number): string {
  if (part !== '') {
    const parts = split(text, part, limit < 0 ? -1 : limit + 1)
    return parts.join(by)
  }
  const chars = Array.from(text)
  const count = limit < 0 ? chars.length + 1 : Math.min(limit, chars.length + 1)
  const placed: string[] = []
  for (let i = 0; i <= chars.length; i++) {
    if (i < count) placed.push(by)
    if (i < chars.length) placed.push(chars[i] as string)
  }
  return placed.join('')
}

const escapes: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

/** Quotes a text as a literal. */
export function quoted(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are escaped
  return `"${text.replace(/\p{Surrogate}/gu, '\ufffd').replace(/[\u0007\b\f\n\r\t\v\\"]/g, (char) => escapes[char] as string)}"`
}
