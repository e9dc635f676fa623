import { runInSlices, type Slices } from '@krmkit/meta'
import { DecodeError } from '../errors.ts'
import { countMembers, scan } from './scan.ts'
import { type DuplicateMembers, NumberLiteral, readJson, readJsonSteps } from './syntax.ts'
import { decodeUtf8 } from './utf8.ts'

/**
 * JSON text to a value, read as Go reads it.
 *
 * The engine's parser does the work when a quick look shows that it gives the same; otherwise the exact reader does.
 */

/** Deepest nesting that is read at all. */
export const maxJsonDepth = 10_000

/** Beyond this the exact reader is used, which does not recurse. */
const quickDepth = 400

export interface ParsedJson {
  /** Integers of 64 bits outside the safe range are `bigint`; with `literals`, odd numbers are `NumberLiteral`. */
  readonly value: unknown
  /** Present only when some object repeats a key. */
  readonly duplicates?: DuplicateMembers
}

export interface ParseJsonOptions {
  /** Default 10 000, as in Go. */
  readonly maxDepth?: number
  /** Keep `1.0` and `1e3` apart from integers, as `NumberLiteral`. For decoding against types. */
  readonly literals?: boolean
}

/**
 * Parses a whole document.
 *
 * Of a repeated key the last value counts; `duplicates` has them all. Invalid UTF-8 becomes U+FFFD, byte by byte.
 * `__proto__` is an ordinary key.
 *
 * @throws DecodeError `Syntax` or `Depth` with Go's message; `Type` for a number that no float can hold (without `literals`).
 */
export function parseJson(input: Uint8Array | string, options: ParseJsonOptions = {}): ParsedJson {
  const maxDepth = options.maxDepth ?? maxJsonDepth
  const literals = options.literals ?? false
  const text = typeof input === 'string' ? { text: input, valid: true } : decodeUtf8(input)
  const quick = text.valid ? quickParse(text.text, maxDepth) : undefined
  if (quick !== undefined) return quick
  const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input
  const { value, duplicates } = readJson(bytes, { maxDepth, literals })
  return duplicates === undefined ? { value } : { value, duplicates }
}

/**
 * The same in slices, for documents that take long to parse. `parseJson` suits small ones better.
 *
 * @param slices paces the work; shared with what comes after it.
 */
export async function parseJsonInSlices(
  input: Uint8Array,
  { maxDepth = maxJsonDepth, literals = false }: ParseJsonOptions,
  slices: Slices,
): Promise<ParsedJson> {
  const { text, valid } = decodeUtf8(input)
  await slices.next()
  if (valid) {
    const found = scan(text)
    await slices.next()
    const few = found.members + found.commas <= quickValues
    const quick = few ? quickParse(text, maxDepth, found) : undefined
    if (quick !== undefined) return quick
  }
  const { value, duplicates } = await runInSlices(readJsonSteps(input, { maxDepth, literals }), slices)
  return duplicates === undefined ? { value } : { value, duplicates }
}

/** Documents with more values are read by the exact reader, which can be interrupted, where the engine's parser would take too long. */
const quickValues = 20_000

/** `undefined` when the exact reader is needed, for an error message or for its finer result. */
function quickParse(text: string, maxDepth: number, found = scan(text)): ParsedJson | undefined {
  if (found.depth > Math.min(quickDepth, maxDepth) || found.oddNumbers || found.surrogates) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return countMembers(value) === found.members ? { value } : undefined
}

/** Parses a document that must be an object. @throws DecodeError as `parseJson`, and `Type` for anything else. */
export function parseJsonObject(
  input: Uint8Array | string,
  options?: ParseJsonOptions,
): ParsedJson & { value: Record<string, unknown> } {
  const parsed = parseJson(input, options)
  const { value } = parsed
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return parsed as ParsedJson & { value: Record<string, unknown> }
  if (value === null) return { ...parsed, value: {} }
  throw new DecodeError('Type', `json: cannot unmarshal ${jsonTypeName(value)} into Go value of type map[string]interface {}`)
}

/** How Go's messages call the type of a value. */
export function jsonTypeName(value: unknown): string {
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
  if (Array.isArray(value)) return 'array'
  if (value === null) return 'null'
  return typeof value === 'object' && !(value instanceof NumberLiteral) ? 'object' : 'number'
}
