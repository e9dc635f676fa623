import { latin1Text, utf8Bytes } from '@krmkit/base/bytes'
/** Start tags of HTML. Texts are byte strings: each character stands for one byte. */

export interface HtmlTag {
  /** In lower case. */
  readonly name: string
  readonly attributes: readonly HtmlAttribute[]
  readonly selfClosing: boolean
  /** Index after the closing bracket. */
  readonly end: number
}

export interface HtmlAttribute {
  /** In lower case. */
  readonly key: string
  /** As written, without quotes. */
  readonly raw: string
}

/** Parses the start tag at `start`, which is the index of its bracket. @returns undefined when the text ends before the tag does. */
export function parseTag(text: string, start: number): HtmlTag | undefined {
  const reader = new TagReader(text, start + 1)
  const name = reader.until(/[ \t\n\r\f/>]/g)
  const attributes: HtmlAttribute[] = []
  for (;;) {
    reader.skip(/[^ \t\n\r\f/]/g)
    if (reader.next === '>') break
    const key = reader.key()
    reader.skip(/[^ \t\n\r\f]/g)
    const raw = reader.next === '=' ? reader.value() : ''
    if (reader.isExhausted) return undefined
    attributes.push({ key: key.toLowerCase(), raw })
  }
  const end = reader.at + 1
  return { name: name.toLowerCase(), attributes, selfClosing: text.charAt(end - 2) === '/', end }
}

class TagReader {
  at: number
  readonly #text: string

  constructor(text: string, at: number) {
    this.#text = text
    this.at = at
  }

  get next(): string {
    return this.#text.charAt(this.at)
  }

  get isExhausted(): boolean {
    return this.at >= this.#text.length
  }

  /** Moves to the next match; to the end without one. @returns the text before it. */
  until(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const end = pattern.exec(this.#text)?.index ?? this.#text.length
    const text = this.#text.slice(this.at, end)
    this.at = end
    return text
  }

  skip(other: RegExp): void {
    this.until(other)
  }

  /** A key may begin with an equals sign. */
  key(): string {
    const first = this.next
    this.at++
    return first + this.until(/[ \t\n\r\f/>=]/g)
  }

  /** The value after an equals sign. */
  value(): string {
    this.at++
    this.skip(/[^ \t\n\r\f]/g)
    const quote = this.next
    if (quote !== '"' && quote !== "'") return quote === '>' ? '' : this.until(/[ \t\n\r\f>]/g)
    this.at++
    const value = this.until(quote === '"' ? /"/g : /'/g)
    this.at++
    return value
  }
}

/** Named character references that are decoded; all others are kept as written. */
const named: Readonly<Record<string, string>> = { amp: '&', apos: "'", gt: '>', lt: '<', quot: '"' }

const escaped: Readonly<Record<string, string>> = {
  '&': '&amp;',
  "'": '&#39;',
  '"': '&#34;',
  '<': '&lt;',
  '>': '&gt;',
  '\r': '&#13;',
}

/**
 * Matches numeric references, and named references that end with a semicolon or are not followed by a letter, digit or equals sign, as in a
 * query.
 */
const reference = /&(?:#[xX]([0-9A-Fa-f]{1,8});?|#([0-9]{1,8});?|([A-Za-z][A-Za-z0-9]{1,40})(;|(?![A-Za-z0-9=])))/
const references = new RegExp(reference, 'g')
const special = new RegExp(`${reference.source}|[&'"<>\\r]`, 'g')

/** Decodes a value; undefined when it has unknown references. */
export function decodeValue(raw: string): string | undefined {
  let known = true
  const text = raw
    .replace(/\r\n?/g, '\n')
    .replace(references, (all, hex?: string, decimal?: string, name?: string, semicolon?: string) => {
      const character = characterOf(hex, decimal, name)
      if (character === undefined && semicolon === ';') known = false
      return character ?? all
    })
  return known ? text : undefined
}

/** Escapes a value as written, and keeps unknown references. */
export function normalizeValue(raw: string): string {
  return raw.replace(/\r\n?/g, '\n').replace(special, (all, hex?: string, decimal?: string, name?: string) => {
    if (all.length === 1) return encodeValue(all)
    const character = characterOf(hex, decimal, name)
    return character === undefined ? all : encodeValue(character)
  })
}

/** @returns undefined for an unknown name. */
function characterOf(hex: string | undefined, decimal: string | undefined, name: string | undefined): string | undefined {
  if (name !== undefined) return Object.hasOwn(named, name) ? named[name] : undefined
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  const valid = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
  return latin1Text(utf8Bytes(String.fromCodePoint(valid ? code : 0xfffd)))
}

/** Escapes a decoded value. */
export function encodeValue(text: string): string {
  return text.replace(/[&'"<>\r]/g, (character) => escaped[character] ?? character)
}

/** Writes a tag. `values` are those of its attributes, encoded. */
export function formatTag({ name, attributes, selfClosing }: HtmlTag, values: readonly string[]): string {
  const texts = attributes.map(({ key }, i) => ` ${key}="${values[i] ?? ''}"`)
  return `<${name}${texts.join('')}${selfClosing ? '/' : ''}>`
}
