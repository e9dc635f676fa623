/** Scans JSON text to decide whether the engine's parser reads it as Go does. */

/** Result of a scan. Meaningful only for valid JSON. */
export interface ScanResult {
  /** Number of members of all objects. */
  readonly members: number
  /** Number of commas: an estimate of the number of values. */
  readonly commas: number
  /** Maximum nesting of objects and lists. */
  readonly depth: number
  /** Whether a number needs the exact reader: an integer outside the safe range, `1.0`, `1e3`, or beyond the range of floats. */
  readonly unusualNumbers: boolean
  /** Whether an escape may be half of a surrogate pair. */
  readonly surrogates: boolean
}

const quote = 0x22
const backslash = 0x5c

/** Scans `text` once. Terminates on invalid JSON with a meaningless result. */
export function scan(text: string): ScanResult {
  const length = text.length
  let members = 0
  let commas = 0
  let depth = 0
  let deepest = 0
  let oddNumbers = false
  for (let i = 0; i < length; i++) {
    const c = text.charCodeAt(i)
    if (c === quote) {
      // `indexOf` finds the end of long strings many times faster than this loop.
      let end = text.indexOf('"', i + 1)
      if (end > 0 && text.charCodeAt(end - 1) === backslash) end = escapedEnd(text, i + 1)
      i = end < 0 ? length : end
    } else if (c === 0x3a) members++
    else if (c === 0x2c) commas++
    else if (c === 0x7b || c === 0x5b) {
      depth++
      if (depth > deepest) deepest = depth
    } else if (c === 0x7d || c === 0x5d) depth--
    else if ((c >= 0x30 && c <= 0x39) || c === 0x2d) {
      let end = i + 1
      let integer = true
      for (; end < length; end++) {
        const d = text.charCodeAt(end)
        if (d >= 0x30 && d <= 0x39) continue
        if (d !== 0x2e && d !== 0x65 && d !== 0x45 && d !== 0x2b && d !== 0x2d) break
        integer = false
      }
      if (!oddNumbers) oddNumbers = integer ? end - i > 15 && isUnsafe(text.slice(i, end)) : isUnusualFloat(text.slice(i, end))
      i = end - 1
    }
  }
  const surrogates = text.includes('\\u') && /\\u[dD][89a-fA-F]/.test(text)
  return { members, commas, depth: deepest, unusualNumbers: oddNumbers, surrogates }
}

/** The quote that ends a string with escapes; -1 without one. @param start the first character of the string */
function escapedEnd(text: string, start: number): number {
  for (let i = start; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === quote) return i
    if (c === backslash) i++
  }
  return -1
}

function isUnsafe(literal: string): boolean {
  return !Number.isSafeInteger(Number(literal))
}

function isUnusualFloat(literal: string): boolean {
  const value = Number(literal)
  return !Number.isFinite(value) || Number.isInteger(value)
}

/** Counts the members of all objects of a parsed value; lower than in the text if a key is repeated. */
export function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const element of value) if (typeof element === 'object' && element !== null) count += countMembers(element)
    return count
  }
  for (const key in value) {
    count++
    const member = (value as Record<string, unknown>)[key]
    if (typeof member === 'object' && member !== null) count += countMembers(member)
  }
  return count
}
