/** Tells which JSON texts YAML 1.1 reads as JSON does, since JSON has faster parsers. */

/**
 * Whether a text that is valid JSON has the same value in YAML. The exceptions: escapes of slashes and of surrogates, raw control
 * characters and line separators, keys that do not end on their line within 1024 characters, the integer `-0`, integers of 16 digits and
 * more, which may need their text, exponents of two digits and more, and tabs outside the brackets.
 *
 * A generator that can be interrupted at each yield, for long texts.
 */
export function* isYamlJsonSteps(text: string): Generator<void, boolean> {
  if (!/^[ \r\n]*[{[]/.test(text) || !/[}\]][ \r\n]*$/.test(text.slice(-200))) return false
  for (let at = 0; at < text.length; at += stepLength) {
    if (different.test(text.slice(at, at + stepLength + longestDifference))) return false
    yield
  }
  return !(yield* hasUnusualKeySteps(text))
}

/** Characters that are looked at between two yields, and the longest text that makes a difference. */
const stepLength = 128 * 1024
const longestDifference = 32

const different =
  /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\\(?:\/|u[dD][89a-fA-F])|[:,[ \t\r\n]-0[ \t\r\n,}\]]|[:,[ \t\r\n]-?[0-9]{16}|[0-9][eE]\+?[0-9]{2}/

/** Longest key, with its quotes and the blanks after it, in characters that are certainly read as one. */
const maxKey = 1000

function* hasUnusualKeySteps(text: string): Generator<void, boolean> {
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

function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at
    while (text.charCodeAt(before - 1) === 0x5c) before--
    if ((at - before) % 2 === 0) return at
  }
  return -1
}
