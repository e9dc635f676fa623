import type { Work } from '@krmkit/base/work'
import { parseJson } from '../json/parse-json.ts'
import { DecodeError } from '../schema-error.ts'
import type { Constructed } from './construct.ts'
import type { YamlText } from './yaml-text.ts'

/** Parses JSON texts that have the same value in YAML 1.1, because JSON parsers are faster. */

/** `undefined` for a text that is not JSON or that YAML reads differently. */
export function* parseAsJson({ text, unreadable }: YamlText): Work<Constructed | undefined> {
  if (unreadable !== undefined || !(yield* isYamlJson(text))) return undefined
  try {
    const { value, duplicates } = yield* parseJson(text, { maxDepth: maxJsonDepth })
    return duplicates === undefined ? { value, problems: [] } : undefined
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

/** Texts nested deeper are left to the YAML reader. */
export const maxJsonDepth = 400

/**
 * Whether a text that is valid JSON has the same value in YAML. The exceptions: escapes of slashes and of surrogates, raw control
 * characters and line separators, keys that do not end on their line within 1024 characters, the integer `-0`, integers of 16 digits and
 * more, which may need their text, exponents of two digits and more, and tabs outside the brackets.
 */
function* isYamlJson(text: string): Work<boolean> {
  if (!/^[ \r\n]*[{[]/.test(text) || !/[}\]][ \r\n]*$/.test(text.slice(-200))) return false
  for (let at = 0; at < text.length; at += stepLength) {
    if (different.test(text.slice(at, at + stepLength + longestDifference))) return false
    yield
  }
  return !(yield* hasUnusualKey(text))
}

/** Number of characters checked between two yields; shorter texts are checked in one step. */
export const stepLength = 128 * 1024
export const longestDifference = 32

export const different =
  /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\\(?:\/|u[dD][89a-fA-F])|[:,[ \t\r\n]-0[ \t\r\n,}\]]|[:,[ \t\r\n]-?[0-9]{16}|[0-9][eE]\+?[0-9]{2}/

/** Length up to which YAML certainly accepts a key, including quotes and following blanks. */
export const maxKey = 1000

function* hasUnusualKey(text: string): Work<boolean> {
  let next = 0
  let due = stepLength
  for (let open = text.indexOf('"'); open >= 0; open = text.indexOf('"', next)) {
    if (open > due) {
      due = open + stepLength
      yield
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

export function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at
    while (text.charCodeAt(before - 1) === 0x5c) before--
    if ((at - before) % 2 === 0) return at
  }
  return -1
}
