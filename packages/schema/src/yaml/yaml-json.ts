/** Tells which JSON texts YAML 1.1 reads as JSON does, since JSON has faster parsers. */

/**
 * Whether a text that is valid JSON has the same value in YAML. The exceptions: escapes of slashes and of surrogates, raw control
 * characters and line separators, keys that do not end on their line within 1024 characters, the integer `-0`, floats out of range,
 * and tabs outside the brackets.
 */
export function isYamlJson(text: string): boolean {
  return /^[ \r\n]*[{[]/.test(text) && /[}\]][ \r\n]*$/.test(text.slice(-200)) && !different.test(text) && !hasUnusualKey(text)
}

const different =
  /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\\(?:\/|u[dD][89a-fA-F])|[:,[ \t\r\n]-0[ \t\r\n,}\]]|[0-9][eE]\+?[0-9]{3}/

/** Longest key, with its quotes and the blanks after it, in characters that are certainly read as one. */
const maxKey = 1000

function hasUnusualKey(text: string): boolean {
  for (let open = text.indexOf('"'); open >= 0; ) {
    const close = closingQuote(text, open)
    if (close < 0) return true
    let next = close + 1
    while (text.charCodeAt(next) <= 0x20) next++
    if (text.charCodeAt(next) === 0x3a) {
      const key = next - open
      if (key > maxKey || (next > close + 1 && /[\r\n]/.test(text.slice(close + 1, next)))) return true
    }
    open = text.indexOf('"', next)
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
