import { END, isBlank, isBlankOrEnd, isBreak, SPACE, TAB } from './characters.ts'
import type { Cursor } from './cursor.ts'
import { type Directive, type ScannedTag, scanAnchor, scanDirective, scanTag } from './scan-properties.ts'
import { type ScannedScalar, scanBlock, scanPlain, scanQuoted } from './scan-scalars.ts'

/**
 * Splits a text into the tokens of YAML 1.1. Indentation and implicit keys become tokens, too. Because only the colon
 * identifies an implicit key, tokens wait in a queue while the first of them may still be part of a key.
 */

export type TokenType =
  | 'directive'
  | 'documentStart'
  | 'documentEnd'
  | 'streamEnd'
  | 'blockSequenceStart'
  | 'blockMappingStart'
  | 'blockEnd'
  | '['
  | ']'
  | '{'
  | '}'
  | '-'
  | ','
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar'

export interface Token {
  readonly type: TokenType
  readonly start: number
  readonly line: number
  readonly column: number
  /** Name of an alias or anchor. */
  readonly name?: string
  readonly tag?: ScannedTag
  readonly directive?: Directive
  readonly scalar?: ScannedScalar
  /** Whether the scalar is neither quoted nor a block. */
  readonly plain?: boolean
  /** The key that begins with this token, if a colon follows. */
  readonly key?: PossibleKey | undefined
}

/** Maximum of nested flow collections, and of nested block collections. */
const maxDepth = 10_000

/** Maximum length of an implicit key, which must be on one line. */
const maxKeyLength = 1024

class PossibleKey {
  possible = true
  /** Whether the first token must wait until it is known whether it is a key. */
  awaited = true
  /** Whether the node must be a key, because it is at the indentation of a block collection. */
  readonly required: boolean
  /** Number of the first token of the key. */
  readonly token: number
  readonly pos: number
  readonly line: number
  readonly column: number

  constructor(cursor: Cursor, { token, required }: { readonly token: number; readonly required: boolean }) {
    this.required = required
    this.token = token
    this.pos = cursor.pos
    this.line = cursor.line
    this.column = cursor.column
  }
}

export class Scanner {
  readonly #cursor: Cursor
  /** Queue of tokens from `#head` on. */
  #tokens: Token[] = []
  #head = 0
  #ready = false
  /** Number of the token at `#head`. */
  #taken = 0
  /** The possible key of each flow level; the first one is that of the block. */
  readonly #keys: (PossibleKey | undefined)[] = [undefined]
  /** The possible keys that the open brackets begin. */
  readonly #openers: (PossibleKey | undefined)[] = []
  #keyAllowed = true
  #indent = -1
  readonly #indents: number[] = []

  /** Whether the text contains surrogate pairs. */
  readonly #hasPairs: boolean

  constructor(cursor: Cursor) {
    this.#cursor = cursor
    this.#hasPairs = /[\ud800-\udbff]/.test(cursor.text)
  }

  /** The next token. @throws DecodeError `Yaml`, `Depth` */
  peek(): Token {
    while (!this.#ready) {
      const first = this.#tokens[this.#head]
      if (first !== undefined && !(first.key?.awaited === true && this.#isValid(first.key))) this.#ready = true
      else this.#fetch()
    }
    return this.#tokens[this.#head] as Token
  }

  skip(): void {
    this.#ready = false
    this.#taken++
    this.#head++
    if (this.#head === this.#tokens.length || this.#head > 2 * maxKeyLength) {
      this.#tokens = this.#tokens.slice(this.#head)
      this.#head = 0
    }
  }

  get #inFlow(): boolean {
    return this.#keys.length > 1
  }

  #fetch(): void {
    const cursor = this.#cursor
    this.#skipToToken()
    if (!this.#inFlow) this.#unroll(cursor.column)
    cursor.ensureReadable(4)
    const code = cursor.code()
    if (code === END) this.#fetchStreamEnd()
    else if (cursor.column === 0 && code === 0x25) this.#fetchDirective()
    else if (cursor.atDocumentMarker()) this.#fetchDocumentMarker(code)
    else this.#fetchContent(code)
    cursor.ensureReadable(0)
  }

  #fetchContent(code: number): void {
    const inFlow = this.#inFlow
    const endsHere = isBlankOrEnd(this.#cursor.code(1))
    switch (code) {
      case 0x5b:
        this.#openFlow('[')
        return
      case 0x7b:
        this.#openFlow('{')
        return
      case 0x5d:
        this.#closeFlow(']')
        return
      case 0x7d:
        this.#closeFlow('}')
        return
      case 0x2c:
        this.#fetchIndicator(',', true)
        return
      case 0x2d:
        if (endsHere) this.#fetchEntry()
        else this.#fetchPlain()
        return
      case 0x3f:
        if (inFlow || endsHere) this.#fetchKey()
        else this.#fetchPlain()
        return
      case 0x3a:
        if (inFlow || endsHere) this.#fetchValue()
        else this.#fetchPlain()
        return
      case 0x2a:
        this.#fetchProperty((cursor) => ({ type: 'alias', name: scanAnchor(cursor) }))
        return
      case 0x26:
        this.#fetchProperty((cursor) => ({ type: 'anchor', name: scanAnchor(cursor) }))
        return
      case 0x21:
        this.#fetchProperty((cursor) => ({ type: 'tag', tag: scanTag(cursor) }))
        return
      case 0x27:
      case 0x22:
        this.#fetchQuoted()
        return
      case 0x7c:
      case 0x3e:
        if (inFlow) break
        this.#fetchBlock()
        return
    }
    if (isBlank(code) || '#%@`|>'.includes(String.fromCharCode(code))) {
      throw this.#cursor.error('found character that cannot start any token')
    }
    this.#fetchPlain()
  }

  /** Skips blanks, comments and line breaks. A tab must not precede a possible implicit key. */
  #skipToToken(): void {
    const cursor = this.#cursor
    for (;;) {
      for (;;) {
        const code = cursor.code()
        if (code !== SPACE && (code !== TAB || (this.#keyAllowed && !this.#inFlow))) break
        cursor.pos++
      }
      cursor.skipComment()
      if (!isBreak(cursor.code())) return
      cursor.readBreak()
      if (!this.#inFlow) this.#keyAllowed = true
    }
  }

  #push(token: Token): void {
    this.#tokens.push(token)
  }

  /** Inserts a token before the one with a number, or last when that has been taken. */
  #insert(number: number, token: Token): void {
    if (number < this.#taken) this.#tokens.push(token)
    else this.#tokens.splice(number - this.#taken + this.#head, 0, token)
  }

  #token(type: TokenType, key?: PossibleKey): Token {
    const { pos, line, column } = this.#cursor
    return { type, start: pos, line, column, key }
  }

  #isValid(key: PossibleKey): boolean {
    if (!key.possible) return false
    if (key.line === this.#cursor.line && this.#isShort(key.pos, this.#cursor.pos)) return true
    this.#dropKey(key)
    return false
  }

  /** Whether a text has at most the maximum number of characters of a key. */
  #isShort(from: number, to: number): boolean {
    if (to - from <= maxKeyLength) return true
    if (to - from > 2 * maxKeyLength || !this.#hasPairs) return false
    let length = 0
    for (let at = from; at < to; at++) if (this.#cursor.text.charCodeAt(at) >> 10 !== 0b110111) length++
    return length <= maxKeyLength
  }

  #dropKey(key: PossibleKey | undefined): void {
    if (key === undefined || !key.possible) return
    if (key.required) throw this.#cursor.error("could not find expected ':'")
    key.possible = false
  }

  #dropLastKey(): void {
    this.#dropKey(this.#keys[this.#keys.length - 1])
  }

  /** Records that the next token may begin an implicit key. */
  #noteKey(): PossibleKey | undefined {
    if (!this.#keyAllowed) return undefined
    const required = !this.#inFlow && this.#indent === this.#cursor.column
    const key = new PossibleKey(this.#cursor, { token: this.#taken + this.#tokens.length - this.#head, required })
    this.#dropLastKey()
    this.#keys[this.#keys.length - 1] = key
    return key
  }

  /** Opens a block collection unless one is open at this column. @param at the number of its first token */
  #roll(start: Token, at = this.#taken + this.#tokens.length - this.#head): void {
    if (this.#inFlow || this.#indent >= start.column) return
    this.#indents.push(this.#indent)
    this.#indent = start.column
    if (this.#indents.length > maxDepth) throw this.#cursor.error(`exceeded max depth of ${maxDepth}`)
    this.#insert(at, start)
  }

  /** Closes the block collections that are indented deeper than a column. */
  #unroll(column: number): void {
    while (this.#indent > column) {
      this.#push(this.#token('blockEnd'))
      this.#indent = this.#indents.pop() as number
    }
  }

  /** Closes all block collections before a token between documents. */
  #endBlocks(): void {
    if (!this.#inFlow) this.#unroll(-1)
    this.#dropLastKey()
    this.#keyAllowed = false
  }

  #fetchStreamEnd(): void {
    const cursor = this.#cursor
    if (cursor.column !== 0) {
      cursor.line++
      cursor.lineStart = cursor.pos
    }
    this.#endBlocks()
    this.#push(this.#token('streamEnd'))
  }

  #fetchDirective(): void {
    this.#endBlocks()
    const token = this.#token('directive')
    this.#push({ ...token, directive: scanDirective(this.#cursor) })
  }

  #fetchDocumentMarker(code: number): void {
    this.#endBlocks()
    this.#push(this.#token(code === 0x2d ? 'documentStart' : 'documentEnd'))
    this.#cursor.pos += 3
  }

  #openFlow(type: '[' | '{'): void {
    const key = this.#noteKey()
    this.#keys.push(undefined)
    this.#openers.push(key)
    if (this.#keys.length - 1 > maxDepth) throw this.#cursor.error(`exceeded max depth of ${maxDepth}`)
    this.#keyAllowed = true
    this.#push(this.#token(type, key))
    this.#cursor.pos++
  }

  #closeFlow(type: ']' | '}'): void {
    this.#dropLastKey()
    if (this.#inFlow) {
      const inner = this.#keys.pop()
      const opener = this.#openers.pop()
      // As in kube-apiserver, where an empty collection can be a key only with an anchor or tag.
      if (inner === undefined && opener !== undefined) opener.awaited = false
    }
    this.#keyAllowed = false
    this.#push(this.#token(type))
    this.#cursor.pos++
  }

  #fetchIndicator(type: ',' | '-' | 'key', keyAllowed: boolean): void {
    this.#dropLastKey()
    this.#keyAllowed = keyAllowed
    this.#push(this.#token(type))
    this.#cursor.pos++
  }

  #fetchEntry(): void {
    if (!this.#inFlow) {
      if (!this.#keyAllowed) throw this.#cursor.error('block sequence entries are not allowed in this context')
      this.#roll(this.#token('blockSequenceStart'))
    }
    this.#fetchIndicator('-', true)
  }

  #fetchKey(): void {
    if (!this.#inFlow) {
      if (!this.#keyAllowed) throw this.#cursor.error('mapping keys are not allowed in this context')
      this.#roll(this.#token('blockMappingStart'))
    }
    this.#fetchIndicator('key', !this.#inFlow)
  }

  #fetchValue(): void {
    const key = this.#keys[this.#keys.length - 1]
    if (key !== undefined && this.#isValid(key)) {
      const { pos: start, line, column, token } = key
      this.#insert(token, { type: 'key', start, line, column })
      this.#roll({ type: 'blockMappingStart', start, line, column }, token)
      key.possible = false
      this.#keyAllowed = false
    } else {
      if (!this.#inFlow) {
        if (!this.#keyAllowed) throw this.#cursor.error('mapping values are not allowed in this context')
        this.#roll(this.#token('blockMappingStart'))
      }
      this.#keyAllowed = !this.#inFlow
    }
    this.#push(this.#token('value'))
    this.#cursor.pos++
  }

  /** Scans an anchor, alias or tag, which may begin an implicit key; no other key can begin directly after it. */
  #fetchProperty(scan: (cursor: Cursor) => Omit<Token, 'start' | 'line' | 'column' | 'key'>): void {
    const key = this.#noteKey()
    this.#keyAllowed = false
    const { pos: start, line, column } = this.#cursor
    this.#push({ start, line, column, key, ...scan(this.#cursor) })
  }

  #fetchQuoted(): void {
    const key = this.#noteKey()
    this.#keyAllowed = false
    const { pos: start, line, column } = this.#cursor
    this.#push({ type: 'scalar', start, line, column, scalar: scanQuoted(this.#cursor), plain: false, key })
  }

  #fetchPlain(): void {
    const key = this.#noteKey()
    const { pos: start, line, column } = this.#cursor
    const scalar = scanPlain(this.#cursor, { indent: this.#indent + 1, flow: this.#inFlow })
    this.#keyAllowed = scalar.endsLine
    this.#push({ type: 'scalar', start, line, column, scalar, plain: true, key })
  }

  #fetchBlock(): void {
    this.#dropLastKey()
    this.#keyAllowed = true
    const token = this.#token('scalar')
    this.#push({ ...token, scalar: scanBlock(this.#cursor, this.#indent), plain: false })
  }
}
