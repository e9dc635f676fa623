/** UTF-8 as Go reads and writes it. */

// Stateless between calls.
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const loose = new TextDecoder('utf-8', { ignoreBOM: true })

/** Decoded text, and whether the bytes were valid UTF-8. */
export interface DecodedText {
  readonly text: string
  readonly valid: boolean
}

/** Decodes UTF-8 and keeps a byte order mark, which JSON forbids. The text of invalid bytes is empty: use `decodeLoosely`. */
export function decodeUtf8(bytes: Uint8Array): DecodedText {
  try {
    return { text: strict.decode(bytes), valid: true }
  } catch {
    return { text: '', valid: false }
  }
}

/** Replaces each invalid byte by one U+FFFD; `TextDecoder` would replace some sequences by one. */
export function decodeLoosely(bytes: Uint8Array): string {
  const { text, valid } = decodeUtf8(bytes)
  if (valid) return text
  // Decoding the repaired bytes once is much faster than decoding many small parts.
  const repaired = new Uint8Array(bytes.length * 3)
  let length = 0
  let at = 0
  while (at < bytes.length) {
    const sequence = sequenceLength(bytes, at)
    if (sequence === 0) {
      repaired[length++] = 0xef
      repaired[length++] = 0xbf
      repaired[length++] = 0xbd
      at++
    }
    for (const end = at + sequence; at < end; at++) repaired[length++] = bytes[at] as number
  }
  return loose.decode(repaired.subarray(0, length))
}

/** Length of the valid sequence at `at`, or 0. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number
  if (first < 0x80) return 1
  const second = bytes[at + 1] ?? 0
  if (first >= 0xc2 && first <= 0xdf) return isTail(second) ? 2 : 0
  const third = bytes[at + 2] ?? 0
  if (first >= 0xe0 && first <= 0xef) {
    const low = first === 0xe0 ? 0xa0 : 0x80
    const high = first === 0xed ? 0x9f : 0xbf
    return second >= low && second <= high && isTail(third) ? 3 : 0
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const low = first === 0xf0 ? 0x90 : 0x80
    const high = first === 0xf4 ? 0x8f : 0xbf
    return second >= low && second <= high && isTail(third) && isTail(bytes[at + 3] ?? 0) ? 4 : 0
  }
  return 0
}

function isTail(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}
