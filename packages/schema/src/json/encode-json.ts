import { setMember } from '@krmkit/meta'
import { compareCodePoints } from '@krmkit/meta/go-text'
import { memberNames, type Work } from '@krmkit/meta/work'
import { sortKeys } from '../decode/shape.ts'

/** Encodes values as JSON the way Go prints it: no spaces; `<`, `>`, `&` and the two line separators escaped. */

export interface EncodeJsonOptions {
  /** End with a newline, as responses of the stock server do. Default false. */
  readonly newline?: boolean
}

/**
 * Encodes a value as UTF-8 JSON in the existing member order; pass canonical objects. Omits `undefined` members.
 *
 * @example
 * import { encodeJson } from '@krmkit/schema'
 * const bytes = encodeJson({ a: '<' }, { newline: true })
 * new TextDecoder().decode(bytes) // '{"a":"\\u003c"}\n'
 */
export function encodeJson(value: unknown, options: EncodeJsonOptions = {}): Uint8Array {
  const text = stringifyJson(value)
  return options.newline === true ? encodeLine(text) : encoder.encode(text)
}

/**
 * As `encodeJson`, for large values: a generator that can be interrupted at each yield.
 *
 * @example
 * import { runAtOnce } from '@krmkit/meta/work'
 * import { encodeJsonSteps } from '@krmkit/schema/json'
 * runAtOnce(encodeJsonSteps([1, 2])).byteLength // 5
 */
export function* encodeJsonSteps(value: unknown, options: EncodeJsonOptions = {}): Work<Uint8Array> {
  const text = yield* stringifySteps(value)
  yield true
  return options.newline === true ? encodeLine(text) : encoder.encode(text)
}

/** Text and a newline in UTF-8. ASCII text, nearly all JSON, is not copied before. */
function encodeLine(text: string): Uint8Array {
  const { length } = text
  const bytes = new Uint8Array(length + 1)
  const { read, written } = encoder.encodeInto(text, bytes)
  if (read !== length || written !== length) return encoder.encode(`${text}\n`)
  bytes[length] = 0x0a
  return bytes
}

const encoder = new TextEncoder()

/**
 * As `encodeJson`, but returns text.
 *
 * @example
 * import { stringifyJson } from '@krmkit/schema'
 * stringifyJson({ a: '<' }) // '{"a":"\\u003c"}'
 */
export function stringifyJson(value: unknown): string {
  return escapeHtml(unescapedJson(value))
}

/** JSON without HTML escapes, as raw values are embedded in protobuf. */
export function unescapedJson(value: unknown): string {
  let text: string
  try {
    text = JSON.stringify(value)
    // The engine moves index-like keys to the front; Go does not.
    if (indexKey.test(text)) text = writeValue(value)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    text = writeValue(value)
  }
  return text
}

/** A quote after `{` or `,` starts a key or a list element; inside strings it would be escaped. */
const indexKey = /[{,]"(?:0|[1-9][0-9]{0,9})":/

/** One search and replacement per character: a search for a character class is far slower. */
function escapeHtml(text: string): string {
  let out = text
  for (const [char, written] of htmlEscapes) if (out.includes(char)) out = out.replaceAll(char, written)
  return out
}

const htmlEscapes = [...'<>&\u2028\u2029'].map(
  (char) => [char, `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`] as const,
)

/**
 * As `stringifyJson`, for large values: a generator that can be interrupted at each yield.
 *
 * @example
 * import { createTurns, runPaced, Pace } from '@krmkit/meta/work'
 * import { stringifySteps } from '@krmkit/schema/json'
 * const pace = new Pace(createTurns())
 * await runPaced(stringifySteps({ items: [1, 2] }), pace) // '{"items":[1,2]}'
 */
export function* stringifySteps(value: unknown): Work<string> {
  const parts = new TextParts()
  yield* writeSteps(value, parts)
  return parts.text()
}

/** Parts of a text. They are joined again and again, since joining many at once takes long. */
class TextParts {
  #parts: string[] = []
  readonly #chunks: string[] = []

  push(...parts: readonly string[]): void {
    for (const part of parts) this.#parts.push(part)
    if (this.#parts.length > partsPerChunk) this.#join()
  }

  text(): string {
    this.#join()
    return this.#chunks.join('')
  }

  #join(): void {
    this.#chunks.push(this.#parts.join(''))
    this.#parts = []
  }
}

const partsPerChunk = 4096

/** Members written between two yields. */
const membersPerStep = 128

function* writeSteps(value: unknown, parts: TextParts): Work {
  if (typeof value === 'bigint') parts.push(value.toString())
  else if (typeof value !== 'object' || value === null) parts.push(escapeHtml(JSON.stringify(value) ?? 'null'))
  else if (Array.isArray(value)) yield* writeListSteps(value, parts)
  else yield* writeObjectSteps(value as Record<string, unknown>, parts)
}

function* writeListSteps(list: readonly unknown[], parts: TextParts): Work {
  parts.push('[')
  for (let i = 0; i < list.length; i++) {
    if (i > 0) parts.push(',')
    yield* writeSteps(list[i], parts)
    if (i % membersPerStep === membersPerStep - 1) yield
  }
  parts.push(']')
}

function* writeObjectSteps(object: Record<string, unknown>, parts: TextParts): Work {
  let keys = memberNames(object)
  if (keys.length > membersPerStep) yield true
  if (startsWithIndex(object, keys)) keys = sortKeys([...keys])
  parts.push('{')
  let count = 0
  for (const key of keys) {
    const member = object[key]
    if (member === undefined) continue
    parts.push(count === 0 ? '' : ',', escapeHtml(JSON.stringify(key)), ':')
    yield* writeSteps(member, parts)
    if (++count % membersPerStep === 0) yield
  }
  parts.push('}')
}

/** Whether an index-like key is printed. Such keys come first in engine order. */
function startsWithIndex(object: Readonly<Record<string, unknown>>, keys: readonly string[]): boolean {
  for (const key of keys) {
    if (!isIndex.test(key)) return false
    if (object[key] !== undefined) return true
  }
  return false
}

/** Writes 64-bit integers, and objects with index-like keys in byte order. */
function writeValue(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(writeValue).join(',')}]`
  const object = value as Record<string, unknown>
  const keys = Object.keys(object)
  const parts: string[] = []
  for (const key of keys.some((name) => isIndex.test(name) && object[name] !== undefined) ? keys.sort(compareCodePoints) : keys) {
    const member = object[key]
    if (member !== undefined) parts.push(`${JSON.stringify(key)}:${writeValue(member)}`)
  }
  return `{${parts.join(',')}}`
}

const isIndex = /^(?:0|[1-9][0-9]{0,9})$/

/** Deep copy of a JSON value with the keys of every object sorted by bytes. */
export function sortedCopy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sortedCopy)
  const object = value as Record<string, unknown>
  const sorted: Record<string, unknown> = {}
  for (const key of sortKeys(Object.keys(object))) setMember(sorted, key, sortedCopy(object[key]))
  return sorted
}

/**
 * A text that is the same for equal values, regardless of member order.
 *
 * @example
 * import { equalityKey } from '@krmkit/schema/json'
 * equalityKey({ b: 1, a: [] }) // '{"a":[],"b":1}'
 */
export function equalityKey(value: unknown): string {
  return stringifyJson(sortedCopy(value))
}
