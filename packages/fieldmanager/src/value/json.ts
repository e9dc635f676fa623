import type { JsonObject, JsonValue } from '@krmkit/meta'
import { compareCodePoints } from '@krmkit/meta/go-text'
import { FieldManagerError } from '../field-manager-error.ts'

/**
 * JSON text of the values inside path elements, byte for byte as Go's serializers write it, and a strict, depth-limited JSON
 * parser.
 */

/** Maximum nesting of parsed JSON. */
export const maxDepth = 200

const plain = /^[\x20\x21\x23-\x25\x27-\x3b\x3d\x3f-\x5b\x5d-\u2027\u202a-\ud7ff\ue000-\uffff]*$/

/**
 * JSON text with sorted map keys and HTML-safe strings: `<` is written `\u003c`.
 *
 * @example
 * ```ts
 * import { canonicalJson } from '@krmkit/fieldmanager/value'
 *
 * canonicalJson({ size: '<L', color: 'blue' }) // '{"color":"blue","size":"\\u003cL"}'
 * ```
 */
export function canonicalJson(value: JsonValue): string {
  switch (typeof value) {
    case 'string':
      return quoteHtmlSafeJson(value)
    case 'number':
      return numberText(value)
    case 'bigint':
    case 'boolean':
      return String(value)
    default:
      if (value === null) return 'null'
      return Array.isArray(value) ? `[${value.map(canonicalJson).join(',')}]` : mapText(value)
  }
}

/** An HTML-safe JSON string, as string values are written. */
export function quoteHtmlSafeJson(text: string): string {
  if (plain.test(text)) return `"${text}"`
  return quoteJson(text).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)
}

/**
 * A JSON string without HTML escapes, as names of key fields are written.
 *
 * @example
 * ```ts
 * import { quoteJson } from '@krmkit/fieldmanager/value'
 *
 * quoteJson('<name>') // '"<name>"'
 * ```
 */
export function quoteJson(text: string): string {
  const escaped = JSON.stringify(text)
  if (plain.test(text)) return escaped
  return escaped
    .replace(/\u2028/g, '\\u2028')
    .replace(/\u2029/g, '\\u2029')
    .replace(/\\(?:[bf]|u[dD][89a-fA-F][0-9a-f]{2}|[^bf])/g, (m) => shortEscapes[m] ?? (m.startsWith('\\ud') ? '\\ufffd' : m))
}

/**
 * Parses exactly one JSON value.
 *
 * @throws FieldManagerError `InvalidFieldSet` for invalid JSON, `TooLarge` for more than 200 levels.
 * @example
 * ```ts
 * import { parseJsonText } from '@krmkit/fieldmanager/value'
 *
 * parseJsonText('{"replicas": 3}') // { replicas: 3 }
 * ```
 */
export function parseJsonText(text: string): JsonValue {
  checkDepth(text)
  try {
    return JSON.parse(text) as JsonValue
  } catch (cause) {
    throw new FieldManagerError({ code: 'InvalidFieldSet', message: `not valid JSON: ${(cause as Error).message}`, cause })
  }
}

const shortEscapes: Readonly<Record<string, string>> = { '\\b': '\\u0008', '\\f': '\\u000c' }

function numberText(value: number): string {
  if (Object.is(value, -0)) return '-0'
  const text = String(value)
  const exponent = text.indexOf('e')
  if (exponent < 0) return text
  // The serializer of path elements in Go prints at least two digits of an exponent.
  return `${text.slice(0, exponent + 2)}${text.slice(exponent + 2).padStart(2, '0')}`
}

function mapText(value: JsonObject): string {
  const parts: string[] = []
  for (const key of Object.keys(value).sort(compareCodePoints))
    parts.push(`${quoteHtmlSafeJson(key)}:${canonicalJson(value[key] as JsonValue)}`)
  return `{${parts.join(',')}}`
}

function checkDepth(text: string): void {
  let depth = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (inString) {
      if (unit === 0x5c) i++
      else if (unit === 0x22) inString = false
    } else if (unit === 0x22) inString = true
    else if (unit === 0x7b || unit === 0x5b) {
      if (++depth > maxDepth) throw new FieldManagerError({ code: 'TooLarge', message: `nested deeper than ${maxDepth} levels` })
    } else if (unit === 0x7d || unit === 0x5d) depth--
  }
}
