import { isBlank, isBlankOrEnd, isBreakOrEnd, isDigit, isWord } from './characters.ts'
import type { Cursor } from './cursor.ts'

/** Scans anchors, tags and directives. */

/** Scans the name of an anchor or alias after its indicator. @throws DecodeError `Yaml` */
export function scanAnchor(cursor: Cursor): string {
  cursor.pos++
  const name = scanWord(cursor)
  const code = cursor.code()
  if (name === '' || !(isBlankOrEnd(code) || '?:,]}%@`'.includes(String.fromCharCode(code)))) {
    throw cursor.error('did not find expected alphabetic or numeric character')
  }
  return name
}

function scanWord(cursor: Cursor): string {
  const start = cursor.pos
  while (isWord(cursor.code())) cursor.pos++
  return cursor.text.slice(start, cursor.pos)
}

export interface ScannedTag {
  /** `!`, `!!` or `!name!`; empty for a verbatim tag and for the tag `!`. */
  readonly handle: string
  readonly suffix: string
}

/** @throws DecodeError `Yaml` */
export function scanTag(cursor: Cursor): ScannedTag {
  const tag = cursor.code(1) === 0x3c ? scanVerbatimTag(cursor) : scanShorthandTag(cursor)
  if (!isBlankOrEnd(cursor.code())) throw cursor.error('did not find expected whitespace or line break')
  return tag
}

function scanVerbatimTag(cursor: Cursor): ScannedTag {
  cursor.pos += 2
  const suffix = scanUri(cursor)
  if (cursor.code() !== 0x3e) throw cursor.error("did not find the expected '>'")
  cursor.pos++
  return { handle: '', suffix }
}

function scanShorthandTag(cursor: Cursor): ScannedTag {
  const handle = scanHandle(cursor)
  if (handle.length > 1 && handle.endsWith('!')) return { handle, suffix: scanUri(cursor) }
  const suffix = scanUri(cursor, handle)
  return suffix === '' ? { handle: '', suffix: '!' } : { handle: '!', suffix }
}

function scanHandle(cursor: Cursor): string {
  if (cursor.code() !== 0x21) throw cursor.error("did not find expected '!'")
  cursor.pos++
  const name = scanWord(cursor)
  if (cursor.code() !== 0x21) return `!${name}`
  cursor.pos++
  return `!${name}!`
}

const uriPunctuation = ";/?:@&=+$,.!~*'()[]%"

/** @param head beginning of the tag that is already consumed, with its `!`. */
function scanUri(cursor: Cursor, head = ''): string {
  const parts = [head.slice(1)]
  const start = cursor.pos
  let from = start
  for (let code = cursor.code(); isWord(code) || uriPunctuation.includes(String.fromCharCode(code)); code = cursor.code()) {
    if (code !== 0x25) {
      cursor.pos++
      continue
    }
    parts.push(cursor.text.slice(from, cursor.pos), scanUriEscapes(cursor))
    from = cursor.pos
  }
  if (head === '' && cursor.pos === start) throw cursor.error('did not find expected tag URI')
  parts.push(cursor.text.slice(from, cursor.pos))
  return parts.join('')
}

/** Reads one character from escaped octets. ASCII only, because no known tag has other characters. */
function scanUriEscapes(cursor: Cursor): string {
  const first = scanUriOctet(cursor)
  if (first < 0x80) return String.fromCharCode(first)
  const width = first >> 5 === 0b110 ? 2 : first >> 4 === 0b1110 ? 3 : first >> 3 === 0b11110 ? 4 : 0
  if (width === 0) throw cursor.error('found an incorrect leading UTF-8 octet')
  for (let at = 1; at < width; at++) {
    if (scanUriOctet(cursor) >> 6 !== 0b10) throw cursor.error('found an incorrect trailing UTF-8 octet')
  }
  return '\ufffd'
}

function scanUriOctet(cursor: Cursor): number {
  const octet = cursor.text.slice(cursor.pos, cursor.pos + 3)
  if (!/^%[0-9a-fA-F]{2}$/.test(octet)) throw cursor.error('did not find URI escaped octet')
  cursor.pos += 3
  return Number.parseInt(octet.slice(1), 16)
}

/** A directive of a document. */
export type Directive =
  | { readonly name: 'YAML'; readonly version: string }
  | { readonly name: 'TAG'; readonly handle: string; readonly prefix: string }

/** Scans a directive and the rest of its line. @throws DecodeError `Yaml` */
export function scanDirective(cursor: Cursor): Directive {
  cursor.pos++
  const name = scanWord(cursor)
  if (name === '') throw cursor.error('could not find expected directive name')
  if (!isBlankOrEnd(cursor.code())) throw cursor.error('found unexpected non-alphabetical character')
  if (name !== 'YAML' && name !== 'TAG') throw cursor.error('found unknown directive name')
  cursor.skipBlanks()
  const directive = name === 'YAML' ? scanVersion(cursor) : scanTagDirective(cursor)
  cursor.skipBlanks()
  cursor.skipComment()
  if (!isBreakOrEnd(cursor.code())) throw cursor.error('did not find expected comment or line break')
  if (cursor.code() !== 0) cursor.readBreak()
  return directive
}

function scanVersion(cursor: Cursor): Directive {
  const major = scanVersionNumber(cursor)
  if (cursor.code() !== 0x2e) throw cursor.error("did not find expected digit or '.' character")
  cursor.pos++
  return { name: 'YAML', version: `${major}.${scanVersionNumber(cursor)}` }
}

function scanVersionNumber(cursor: Cursor): number {
  const start = cursor.pos
  for (; isDigit(cursor.code()); cursor.pos++) {
    if (cursor.pos === start + 2) throw cursor.error('found extremely long version number')
  }
  if (cursor.pos === start) throw cursor.error('did not find expected version number')
  return Number(cursor.text.slice(start, cursor.pos))
}

function scanTagDirective(cursor: Cursor): Directive {
  const handle = scanHandle(cursor)
  if (handle !== '!' && !handle.endsWith('!')) throw cursor.error("did not find expected '!'")
  if (!isBlank(cursor.code())) throw cursor.error('did not find expected whitespace')
  cursor.skipBlanks()
  const prefix = scanUri(cursor)
  if (!isBlankOrEnd(cursor.code())) throw cursor.error('did not find expected whitespace or line break')
  return { name: 'TAG', handle, prefix }
}
