/** Go strings as bytes: where go-cmp cuts strings, it cuts between bytes. */

import { goQuote, isPrintable } from '@krmkit/meta/go-text'

const encoder = /* @__PURE__ */ new TextEncoder()
const decoder = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Bytes of a text. */
export function bytesOf(text: string): Uint8Array {
  return encoder.encode(text)
}

/** A piece of bytes in quotes, or in backquotes where these need no escapes and quotes do. */
export function quoteBytes(bytes: Uint8Array): string {
  const text = decoded(bytes)
  return text === undefined ? `"${[...runs(bytes)].join('')}"` : quoteText(text)
}

/** As {@link quoteBytes}, of a whole text. */
export function quoteText(text: string): string {
  const quoted = goQuote(text)
  if (quoted.length === text.length + 2) return quoted
  for (const char of text) if (char === '`' || !(isPrintable(char) || char === '\t')) return quoted
  return `\`${text}\``
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** Characters of bytes that are not all UTF-8, with escapes for the other bytes. */
function* runs(bytes: Uint8Array): Generator<string> {
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes[at] as number)
    const text = length === 0 ? undefined : decoded(bytes.subarray(at, at + length))
    if (text === undefined) yield `\\x${(bytes[at] as number).toString(16).padStart(2, '0')}`
    else yield goQuote(text).slice(1, -1)
    at += text === undefined ? 1 : length
  }
}

/** Length of the character that a byte begins; 0: it begins none. */
function characterLength(byte: number): number {
  if (byte < 0x80) return 1
  if (byte < 0xc0) return 0
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
}

/** Go's `unicode.IsSpace`. */
export function isSpace(char: string): boolean {
  return char === '\u0085' || (char !== '\ufeff' && char.trim() === '')
}
