/**
 * A quick look over JSON text that finds out whether the engine's own parser reads it as Go would.
 */

/** What the quick look found. Meaningful only when the text is valid JSON. */
export interface ScanResult {
  /** Members of all objects. */
  readonly members: number
  /** Commas between members and elements: a measure of how many values there are. */
  readonly commas: number
  /** Deepest nesting of objects and lists. */
  readonly depth: number
  /** Some number needs a closer look: an integer outside the safe range, `1.0`, `1e3`, or too large for a float. */
  readonly oddNumbers: boolean
  /** Some escape names half of a surrogate pair. */
  readonly surrogates: boolean
}

const quote = 0x22
const backslash = 0x5c

/** Runs over `text` once. Of text that is no JSON it says something meaningless, but ends. */
export function scan(text: string): ScanResult {
  const length = text.length
  let members = 0
  let commas = 0
  let depth = 0
  let deepest = 0
  let oddNumbers = false
  let escapes = false
  for (let i = 0; i < length; i++) {
    const c = text.charCodeAt(i)
    if (c === quote) {
      let end = i + 1
      for (; end < length; end++) {
        const d = text.charCodeAt(end)
        if (d === quote) break
        if (d === backslash) {
          escapes = true
          end++
        }
      }
      i = end
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
      if (!oddNumbers) oddNumbers = integer ? end - i > 15 && isUnsafe(text.slice(i, end)) : isOddFloat(text.slice(i, end))
      i = end - 1
    }
  }
  return { members, commas, depth: deepest, oddNumbers, surrogates: escapes && /\\u[dD][89a-fA-F]/.test(text) }
}

function isUnsafe(literal: string): boolean {
  return !Number.isSafeInteger(Number(literal))
}

function isOddFloat(literal: string): boolean {
  const value = Number(literal)
  return !Number.isFinite(value) || Number.isInteger(value)
}

/** Counts the members of all objects of a parsed value; it cannot hold fewer than the text unless some key was repeated. */
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
