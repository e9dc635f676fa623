// Derived from yaml-json.ts by `npm run direct`: do not edit.

import { parseJson } from '../json/parse-json.direct.ts'
import { DecodeError } from '../schema-error.ts'
import type { Constructed } from './construct.ts'
import { closingQuote, different, longestDifference, maxJsonDepth, maxKey, stepLength } from './yaml-json.ts'
import type { YamlText } from './yaml-text.ts'

/** `undefined` for a text that is not JSON or that YAML reads differently. */
export function parseAsJson({ text, unreadable }: YamlText): Constructed | undefined {
  if (unreadable !== undefined || !isYamlJson(text)) return undefined
  try {
    const { value, duplicates } = parseJson(text, { maxDepth: maxJsonDepth })
    return duplicates === undefined ? { value, problems: [] } : undefined
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

/**
 * Whether a text that is valid JSON has the same value in YAML. The exceptions: escapes of slashes and of surrogates, raw control
 * characters and line separators, keys that do not end on their line within 1024 characters, the integer `-0`, integers of 16 digits and
 * more, which may need their text, exponents of two digits and more, and tabs outside the brackets.
 */
function isYamlJson(text: string): boolean {
  if (!/^[ \r\n]*[{[]/.test(text) || !/[}\]][ \r\n]*$/.test(text.slice(-200))) return false
  for (let at = 0; at < text.length; at += stepLength) {
    if (different.test(text.slice(at, at + stepLength + longestDifference))) return false
  }
  return !hasUnusualKey(text)
}

function hasUnusualKey(text: string): boolean {
  let next = 0
  let due = stepLength
  for (let open = text.indexOf('"'); open >= 0; open = text.indexOf('"', next)) {
    if (open > due) {
      due = open + stepLength
    }
    const close = closingQuote(text, open)
    if (close < 0) return true
    next = close + 1
    while (text.charCodeAt(next) <= 0x20) next++
    if (text.charCodeAt(next) !== 0x3a) continue
    if (next - open > maxKey || (next > close + 1 && /[\r\n]/.test(text.slice(close + 1, next)))) return true
  }
  return false
}
