/** The Huffman code of header fields. */

/**
 * Length of the code of each byte in bits, and of the end of a text. The code is canonical: within one length, codes ascend with the byte.
 *
 * @see RFC 7541, appendix B
 */
const codeLengths = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
  6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22,
  23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22,
  21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26,
  27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26,
  26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
]
const endOfText = 256
const longestCode = 30
/** A shorter rest that consists of ones is padding. */
const longestPadding = 7

interface CodesOfLength {
  readonly first: number
  /** Bytes by code, from the first one on. */
  readonly bytes: readonly number[]
}

/** By length in bits. */
const codes = assignCodes()

function assignCodes(): readonly CodesOfLength[] {
  const byLength: CodesOfLength[] = []
  let next = 0
  for (let length = 0; length <= longestCode; length++) {
    next *= 2
    const bytes = codeLengths.flatMap((each, byte) => (each === length ? [byte] : []))
    byLength.push({ first: next, bytes })
    next += bytes.length
  }
  return byLength
}

/** @throws Error for bytes that are no code */
export function decodeHuffman(bytes: Uint8Array): string {
  const text: number[] = []
  let code = 0
  let length = 0
  let isPadding = true
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      const value = (byte >> bit) & 1
      code = code * 2 + value
      length++
      isPadding &&= value === 1
      const { first, bytes: found } = codes[length]!
      const decoded = code >= first ? found[code - first] : undefined
      if (decoded === undefined) {
        if (length === longestCode) throw new Error('no Huffman code')
        continue
      }
      if (decoded === endOfText) throw new Error('the end of a text inside it')
      text.push(decoded)
      code = 0
      length = 0
      isPadding = true
    }
  }
  if (length > longestPadding || !isPadding) throw new Error('a Huffman code is cut off')
  return Buffer.from(text).toString('latin1')
}
