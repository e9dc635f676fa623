import type { Work } from '@krmkit/base/work'
import { countMembers, type ScanResult, scan } from './scan.ts'
import { writeJson as writeAtOnce } from './write-json.direct.ts'
import { TextParts, writeJson } from './write-json.ts'

/**
 * JSON by the built-in functions of the JavaScript engine, where their result equals that of Go: much faster than any other
 * code, but not pausable. Pausable operations use other code for large values.
 */
export const engineJson = {
  /** `undefined` when the exact reader is needed for its error message or its result. */
  parse: (text: string, maxDepth: number): EngineValue | undefined => parseScanned(text, maxDepth, scan(text)),
  stringify: (value: unknown): string => escapeHtml(unescapedJson(value)),
  paced: {
    *parse(text: string, maxDepth: number): Work<EngineValue | undefined> {
      const found = scan(text)
      yield true
      return found.members + found.commas > maxEngineValues ? undefined : parseScanned(text, maxDepth, found)
    },
    *stringify(value: unknown): Work<string> {
      const parts = new TextParts(escapeHtml)
      yield* writeJson(value, parts)
      return parts.text()
    },
  },
}

interface EngineValue {
  readonly value: unknown
}

/** Maximum nesting for the engine's parser, which recurses. */
const maxEngineDepth = 400

/** Maximum number of values for the engine's parser, which cannot pause. */
const maxEngineValues = 20_000

function parseScanned(text: string, maxDepth: number, found: ScanResult): EngineValue | undefined {
  if (found.depth > Math.min(maxEngineDepth, maxDepth) || found.unusualNumbers || found.surrogates) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return countMembers(value) === found.members ? { value } : undefined
}

/** JSON without HTML escapes, the form of raw values in protobuf. */
export function unescapedJson(value: unknown): string {
  let text: string
  try {
    text = JSON.stringify(value)
    // The engine moves index-like keys to the front; Go does not.
    if (indexKey.test(text)) text = writtenText(value)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    text = writtenText(value)
  }
  return text
}

/**
 * Matches an index-like key. An unescaped quote after `{` or `,` starts a key or a list element, because quotes inside
 * strings are escaped.
 */
const indexKey = /[{,]"(?:0|[1-9][0-9]{0,9})":/

function writtenText(value: unknown): string {
  const parts = new TextParts()
  writeAtOnce(value, parts)
  return parts.text()
}

/** Escapes character by character, because a search for a character class is far slower. */
function escapeHtml(text: string): string {
  let out = text
  for (const [char, written] of htmlEscapes) if (out.includes(char)) out = out.replaceAll(char, written)
  return out
}

const htmlEscapes = [...'<>&\u2028\u2029'].map(
  (char) => [char, `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`] as const,
)
