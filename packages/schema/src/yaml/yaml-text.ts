import { decodeUtf8 } from '../json/utf8.ts'
import { forbidden } from './characters.ts'
import type { UnreadableText } from './cursor.ts'
import { yamlError } from './yaml-error.ts'

/** Decodes the bytes of YAML: UTF-8, or UTF-16 with a byte order mark. */

export interface YamlText {
  /** The text without byte order mark, up to the first invalid character. */
  readonly text: string
  /** Present when a character is invalid, which is an error only if it is read. */
  readonly unreadable?: UnreadableText
}

export function decodeYamlText(input: Uint8Array | string): YamlText {
  const bytes = typeof input === 'string' ? undefined : input
  const encoding = bytes === undefined ? utf8 : encodingOf(bytes)
  const text = typeof input === 'string' ? input : encoding.decode(input)
  if (text !== undefined && !forbidden.test(text)) return { text: text.startsWith('\ufeff') ? text.slice(1) : text }
  return readableText(bytes ?? new TextEncoder().encode(input as string), encoding)
}

/** The problem of the first invalid character, and its offset in bytes. */
interface TextProblem {
  readonly at: number
  readonly problem: string
}

interface Encoding {
  /** @returns undefined for invalid bytes */
  decode(bytes: Uint8Array): string | undefined
  problemOf(bytes: Uint8Array): TextProblem
  /** Whether a character starts at an offset. */
  startsAt(bytes: Uint8Array, at: number): boolean
}

const utf8: Encoding = {
  decode(bytes) {
    const { text, valid } = decodeUtf8(bytes)
    return valid ? text : undefined
  },
  problemOf: utf8Problem,
  startsAt: (bytes, at) => (bytes[at] ?? 0) >> 6 !== 0b10,
}

const utf16le = utf16((bytes, at) => (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8))
const utf16be = utf16((bytes, at) => (bytes[at + 1] ?? 0) | ((bytes[at] ?? 0) << 8))

function encodingOf(bytes: Uint8Array): Encoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return utf16le
  return bytes[0] === 0xfe && bytes[1] === 0xff ? utf16be : utf8
}

/** Returns the text before the first invalid character. */
function readableText(bytes: Uint8Array, encoding: Encoding): YamlText {
  const { at, problem } = encoding.problemOf(bytes)
  const text = encoding.decode(bytes.subarray(0, at)) ?? ''
  // A truncated sequence at the end is an error only if its character is read.
  const from = problem.startsWith('incomplete') ? at : blockStart(bytes, at, encoding)
  const before = encoding.decode(bytes.subarray(0, from)) ?? ''
  const mark = text.startsWith('\ufeff') ? 1 : 0
  return { text: text.slice(mark), unreadable: { from: Math.max(before.length - mark, 0), error: yamlError(problem) } }
}

/** kube-apiserver reads blocks of this size. */
const blockBytes = 512

/** Start of the block of whole characters that contains an offset. */
function blockStart(bytes: Uint8Array, at: number, encoding: Encoding): number {
  for (let start = 0; ; ) {
    let end = start + blockBytes
    while (end < bytes.length && end > start && !encoding.startsAt(bytes, end)) end--
    if (end > at || end === start) return start
    start = end
  }
}

function utf8Problem(bytes: Uint8Array): TextProblem {
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0
    const width = first < 0x80 ? 1 : first >> 5 === 0b110 ? 2 : first >> 4 === 0b1110 ? 3 : first >> 3 === 0b11110 ? 4 : 0
    if (width === 0) return { at, problem: 'invalid leading UTF-8 octet' }
    if (at + width > bytes.length) return { at, problem: 'incomplete UTF-8 octet sequence' }
    let character = width === 1 ? first : first & (0x7f >> width)
    for (const next of bytes.subarray(at + 1, at + width)) {
      if (next >> 6 !== 0b10) return { at, problem: 'invalid trailing UTF-8 octet' }
      character = (character << 6) | (next & 0x3f)
    }
    if (character < (leastOfWidth[width] ?? 0)) return { at, problem: 'invalid length of a UTF-8 sequence' }
    if ((character >= 0xd800 && character <= 0xdfff) || character > 0x10ffff) return { at, problem: 'invalid Unicode character' }
    if (isForbidden(character)) return { at, problem: noControls }
    at += width
  }
  return { at: bytes.length, problem: '' }
}

const noControls = 'control characters are not allowed'

/** By length of a UTF-8 sequence: the least character that needs it. */
const leastOfWidth = [0, 0, 0x80, 0x800, 0x10000]

function isForbidden(character: number): boolean {
  return character <= 0xffff && forbidden.test(String.fromCharCode(character))
}

function utf16(unit: (bytes: Uint8Array, at: number) => number): Encoding {
  const isHigh = (code: number) => code >> 10 === 0b110110
  const isLow = (code: number) => code >> 10 === 0b110111
  const problemOf = (bytes: Uint8Array): TextProblem => {
    for (let at = 0; at < bytes.length; at += 2) {
      if (at + 2 > bytes.length) return { at, problem: 'incomplete UTF-16 character' }
      const code = unit(bytes, at)
      if (isLow(code)) return { at, problem: 'unexpected low surrogate area' }
      if (isForbidden(code)) return { at, problem: noControls }
      if (!isHigh(code)) continue
      if (at + 4 > bytes.length) return { at, problem: 'incomplete UTF-16 surrogate pair' }
      if (!isLow(unit(bytes, at + 2))) return { at, problem: 'expected low surrogate area' }
      at += 2
    }
    return { at: bytes.length, problem: '' }
  }
  const littleEndian = new TextDecoder('utf-16le', { fatal: true, ignoreBOM: true })
  return {
    decode(bytes) {
      const units = new Uint8Array(bytes.length)
      for (let at = 0; at < bytes.length; at += 2) {
        const code = unit(bytes, at)
        units[at] = code & 0xff
        units[at + 1] = code >> 8
      }
      try {
        return littleEndian.decode(units)
      } catch {
        return undefined
      }
    },
    problemOf,
    startsAt: (bytes, at) => at % 2 === 0 && !isLow(unit(bytes, at)),
  }
}
