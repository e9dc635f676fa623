import { compareCodePoints } from '@krmkit/meta'
import { setMember } from './syntax.ts'

/**
 * Values to JSON bytes as Go prints them: no spaces, `<`, `>`, `&` and the two line separators escaped.
 */

export interface EncodeJsonOptions {
  /** End with a newline, as the stock server's answers do. Default false. */
  readonly newline?: boolean
}

/** Members are written in the order they have; use canonical objects. `undefined` members are left out. */
export function encodeJson(value: unknown, options: EncodeJsonOptions = {}): Uint8Array {
  const text = stringifyJson(value)
  return encoder.encode(options.newline ? `${text}\n` : text)
}

const encoder = new TextEncoder()

/** As `encodeJson`, but text. */
export function stringifyJson(value: unknown): string {
  const text = plainJson(value)
  return hasSpecial(text) ? text.replace(special, escapeSpecial) : text
}

/** Without the escapes of HTML, as raw values stand inside of protobuf. */
export function plainJson(value: unknown): string {
  let text: string
  try {
    text = JSON.stringify(value)
    // The engine moves keys that look like indexes to the front, out of Go's order.
    if (indexKey.test(text)) text = writeValue(value)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    text = writeValue(value)
  }
  return text
}

/** A quote after `{` or `,` opens a key or a list element; inside of strings it would be escaped. */
const indexKey = /[{,]"(?:0|[1-9][0-9]{0,9})":/
const special = /[<>&\u2028\u2029]/g

/** Five searches for one character take a fraction of the time of one for any of them. */
function hasSpecial(text: string): boolean {
  return text.includes('<') || text.includes('>') || text.includes('&') || text.includes('\u2028') || text.includes('\u2029')
}

function escapeSpecial(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Writes integers of 64 bits, and objects with index-like keys in the order of their bytes. */
function writeValue(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(writeValue).join(',')}]`
  const object = value as Record<string, unknown>
  const keys = Object.keys(object)
  const parts: string[] = []
  for (const key of keys.some((name) => isIndex.test(name)) ? keys.sort(compareCodePoints) : keys) {
    const member = object[key]
    if (member !== undefined) parts.push(`${JSON.stringify(key)}:${writeValue(member)}`)
  }
  return `{${parts.join(',')}}`
}

const isIndex = /^(?:0|[1-9][0-9]{0,9})$/

/** Deep copy of a JSON value with the keys of every object sorted by their bytes. */
export function sortedCopy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sortedCopy)
  const object = value as Record<string, unknown>
  const sorted: Record<string, unknown> = {}
  for (const key of Object.keys(object).sort(compareCodePoints)) setMember(sorted, key, sortedCopy(object[key]))
  return sorted
}
