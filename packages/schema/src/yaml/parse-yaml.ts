import { DecodeError } from '../errors.ts'
import { type ParsedJson, parseJson } from '../json/parse-json.ts'
import { decodeUtf8 } from '../json/utf8.ts'
import { construct } from './construct.ts'
import { readNodes, yamlErrorPrefix } from './read-nodes.ts'

/** Converts YAML text to a JSON value, as the stock server does before decoding. */

export interface ParsedYaml extends Pick<ParsedJson, 'value'> {
  /** Duplicate keys: `line 7: key "k" already set in map`. */
  readonly problems: readonly string[]
}

/**
 * Reads the first document and ignores the rest. An empty text is null. Accepts JSON.
 *
 * Times stay text, keys become strings, and the last of duplicate keys wins. Numbers outside 64 bits are `NumberLiteral`, as
 * required
 * for decoding against types.
 *
 * @throws DecodeError `Yaml` (syntax, unknown anchors, non-scalar keys, numbers without a JSON form), `Aliasing`, `Depth`.
 * @example
 * import { parseYaml } from '@krmkit/schema'
 * parseYaml('data:\n  a: "1"\n').value // { data: { a: '1' } }
 */
export function parseYaml(input: Uint8Array | string): ParsedYaml {
  const text = typeof input === 'string' ? input : utf8Text(input)
  return parseAsJson(text) ?? parseFull(text)
}

/** Fast path: appliers mostly send JSON. */
function parseAsJson(text: string): ParsedYaml | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined
  try {
    const { value, duplicates } = parseJson(text, { maxDepth: 400 })
    return duplicates === undefined ? { value, problems: noProblems } : undefined
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

function parseFull(text: string): ParsedYaml {
  try {
    const { root, source } = readNodes(text)
    return root === undefined ? { value: null, problems: noProblems } : construct(root, source)
  } catch (error) {
    if (error instanceof RangeError) throw new DecodeError({ code: 'Depth', message: `${yamlErrorPrefix}exceeded max depth` })
    throw error
  }
}

const noProblems: readonly string[] = Object.freeze([])

function utf8Text(bytes: Uint8Array): string {
  const { text, valid } = decodeUtf8(bytes)
  if (!valid) throw new DecodeError({ code: 'Yaml', message: `${yamlErrorPrefix}${utf8Problem(bytes)}` })
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

/** What is wrong with the first invalid sequence of bytes. */
function utf8Problem(bytes: Uint8Array): string {
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0
    const width = first < 0x80 ? 1 : first >> 5 === 0b110 ? 2 : first >> 4 === 0b1110 ? 3 : first >> 3 === 0b11110 ? 4 : 0
    if (width === 0) return 'invalid leading UTF-8 octet'
    if (at + width > bytes.length) return 'incomplete UTF-8 octet sequence'
    let character = width === 1 ? first : first & (0x7f >> width)
    for (const next of bytes.subarray(at + 1, at + width)) {
      if (next >> 6 !== 0b10) return 'invalid trailing UTF-8 octet'
      character = (character << 6) | (next & 0x3f)
    }
    if (character < (leastOfWidth[width] ?? 0)) return 'invalid length of a UTF-8 sequence'
    if ((character >= 0xd800 && character <= 0xdfff) || character > 0x10ffff) return 'invalid Unicode character'
    at += width
  }
  return ''
}

/** The least character that needs a sequence of this length. */
const leastOfWidth = [0, 0, 0x80, 0x800, 0x10000]
