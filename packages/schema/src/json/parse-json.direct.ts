// Derived from parse-json.ts by `npm run direct`: do not edit.
import { runAtOnce } from '@krmkit/base/work'
import { engineJson } from './engine.ts'
import { maxJsonDepth, type ParsedJson, type ParseJsonOptions } from './parse-json.ts'
import { readJson } from './syntax.ts'
import { decodeUtf8 } from './utf8.ts'

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
export function parseJson(input: Uint8Array | string, options: ParseJsonOptions = {}): ParsedJson {
  const { maxDepth = maxJsonDepth, literals = false } = options
  const { text, valid } = typeof input === 'string' ? { text: input, valid: true } : decodeUtf8(input)

  const quick = valid ? engineJson.parse(text, maxDepth) : undefined
  if (quick !== undefined) return quick
  const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input
  const { value, duplicates } = runAtOnce(readJson(bytes, { maxDepth, literals }))
  return duplicates === undefined ? { value } : { value, duplicates }
}
