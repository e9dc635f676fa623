/** A header field; each character is one octet. */
export type RawField = readonly [name: string, value: string]

/**
 * Encodes a header block of literals without Huffman code.
 *
 * @param options.indexed adds the fields to the dynamic table of the peer; default false
 * @example
 * import { encodeFields } from '@krmkit/base/hpack'
 * encodeFields([['te', 'trailers']]).toString('hex') // '0002746508747261696c657273'
 */
export function encodeFields(fields: readonly RawField[], { indexed = false } = {}): Buffer {
  const kind = Buffer.of(indexed ? 0x40 : 0)
  return Buffer.concat(fields.flatMap(([name, value]) => [kind, encodeText(name), encodeText(value)]))
}

function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  return Buffer.concat([encodeInteger(bytes.length), bytes])
}

/** An integer with a prefix of seven bits. */
function encodeInteger(value: number): Buffer {
  const limit = 0x7f
  if (value < limit) return Buffer.of(value)
  const octets = [limit]
  let rest = value - limit
  for (; rest >= 0x80; rest >>>= 7) octets.push((rest & 0x7f) | 0x80)
  return Buffer.of(...octets, rest)
}
