import { type Pace, runPaced, type Work } from '@krmkit/base/work'
import { engineJson } from './engine.ts'
import { type DuplicateMembers, NumberLiteral, readJson } from './syntax.ts'
import { decodeUtf8 } from './utf8.ts'

/**
 * Parses JSON text as Go does.
 *
 * The engine's parser is used when a scan shows that it gives the same result; otherwise the exact reader is used.
 */

/** Maximum nesting. */
export const maxJsonDepth = 10_000

export interface ParsedJson {
  /** 64-bit integers outside the safe range are `bigint`; with `literals`, numbers such as `1.0` are `NumberLiteral`. */
  readonly value: unknown
  /** Present only when an object repeats a key. */
  readonly duplicates?: DuplicateMembers
}

export interface ParseJsonOptions {
  /** Default 10 000, as in Go. */
  readonly maxDepth?: number
  /**
   * Whether to return `1.0` and `1e3` as `NumberLiteral`, to distinguish them from integers. Required for decoding against
   * types.
   */
  readonly literals?: boolean
}

/**
 * Parses a whole document.
 *
 * The last value of a duplicate key wins; `duplicates` lists all of them. Each invalid byte of UTF-8 becomes U+FFFD. `__proto__` is
 * an ordinary key.
 *
 * @throws DecodeError `Syntax` or `Depth` with Go's message; `Type` for a number beyond the range of floats (without `literals`).
 * @example
 * import { parseJson } from '@krmkit/schema'
 * const { value } = parseJson('{"a":1,"a":2}')
 * value // { a: 2 }
 */
export function* parseJson(input: Uint8Array | string, options: ParseJsonOptions = {}): Work<ParsedJson> {
  const { maxDepth = maxJsonDepth, literals = false } = options
  const { text, valid } = typeof input === 'string' ? { text: input, valid: true } : decodeUtf8(input)
  yield true
  const quick = valid ? yield* engineJson.paced.parse(text, maxDepth) : undefined
  if (quick !== undefined) return quick
  const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input
  const { value, duplicates } = yield* readJson(bytes, { maxDepth, literals })
  return duplicates === undefined ? { value } : { value, duplicates }
}

/**
 * As `parseJson`, in time slices, for large documents. `parseJson` is faster for small ones.
 *
 * @param slices pace of the work; may be shared with later steps.
 * @example
 * import { createTurns, Pace } from '@krmkit/base/work'
 * import { parseJsonInSlices } from '@krmkit/schema/json'
 * const body = new TextEncoder().encode('{"items":[1,2]}')
 * const { value } = await parseJsonInSlices(body, { literals: true }, new Pace(createTurns()))
 * @see {@link parseJson}
 */
export function parseJsonInSlices(input: Uint8Array, options: ParseJsonOptions, pace: Pace): Promise<ParsedJson> {
  return runPaced(parseJson(input, options), pace)
}

/** Name of the type of a value in Go's messages. */
export function jsonTypeName(value: unknown): string {
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
  if (Array.isArray(value)) return 'array'
  if (value === null) return 'null'
  return typeof value === 'object' && !(value instanceof NumberLiteral) ? 'object' : 'number'
}
