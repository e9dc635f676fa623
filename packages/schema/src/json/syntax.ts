import { rememberMemberNames, type Work } from '@krmkit/base/work'
import { setMember } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { DecodeError } from '../schema-error.ts'
import { decodeLoosely } from './utf8.ts'

/**
 * Exact JSON reader over bytes: keeps duplicate members and the text of unusual numbers, and reports errors with Go's messages.
 *
 * Slower than the engine's parser, so used only where the results differ. Does not recurse.
 */

/** All members, in order, of each object that repeats a key. Other objects have no entry. */
export type DuplicateMembers = Map<object, readonly Member[]>

/** Key and value of a member. */
export type Member = readonly [key: string, value: unknown]

/**
 * A number whose text matters: Go does not read `1.0`, or an integer outside 64 bits, as an integer.
 *
 * @example
 * import { parseJson } from '@krmkit/schema'
 * parseJson('1.0', { literals: true }).value // NumberLiteral { text: '1.0', value: 1 }
 */
export class NumberLiteral {
  readonly text: string
  readonly value: number

  constructor(text: string) {
    this.text = text
    this.value = Number(text)
  }
}

export interface SyntaxOptions {
  readonly maxDepth: number
  /**
   * Whether to return numbers such as `1.0` as `NumberLiteral`. Otherwise they are plain numbers, and numbers beyond the
   * range of floats are rejected.
   */
  readonly literals: boolean
}

interface Frame {
  readonly list: unknown[] | undefined
  readonly object: Record<string, unknown> | undefined
  /** Keys in order, without repetitions. */
  readonly keys: string[]
  /** Set once a key is repeated. */
  members: Member[] | undefined
  key: string
}

/** @throws DecodeError `Syntax`, or `Depth` beyond `maxDepth`. */
export function* readJson(bytes: Uint8Array, options: SyntaxOptions): Work<ReadValue> {
  return yield* new SyntaxReader(bytes, options).read()
}

interface ReadValue {
  readonly value: unknown
  readonly duplicates: DuplicateMembers | undefined
}

/** Values read between two yields. */
const valuesPerStep = 128

class SyntaxReader {
  readonly #bytes: Uint8Array
  readonly #options: SyntaxOptions
  #at = 0
  #duplicates: DuplicateMembers | undefined

  constructor(bytes: Uint8Array, options: SyntaxOptions) {
    this.#bytes = bytes
    this.#options = options
  }

  *read(): Work<ReadValue> {
    const frames: Frame[] = []
    let top: Frame | undefined
    for (let count = 1; ; count++) {
      if (count % valuesPerStep === 0) yield
      let value = this.#begin(frames.length)
      if (value instanceof FrameStart) {
        const opened = value.frame
        this.#skipSpace()
        const closing = opened.list === undefined ? 0x7d : 0x5d
        if (this.#bytes[this.#at] !== closing) {
          frames.push(opened)
          top = opened
          if (opened.list === undefined) this.#readKey(opened)
          continue
        }
        this.#at++
        value = opened.list ?? opened.object
      }
      // A value is complete: store it and close every container that ends here.
      for (;;) {
        if (top === undefined) return this.#end(value)
        if (top.members === undefined && isRepetition(top)) top.members = yield* earlierMembers(top)
        store(top, value)
        if (this.#more(top)) break
        value = this.#close(top)
        frames.pop()
        top = frames[frames.length - 1]
      }
    }
  }

  /** Reads a scalar, or opens a container. */
  #begin(depth: number): unknown {
    this.#skipSpace()
    const c = this.#bytes[this.#at]
    switch (c) {
      case 0x7b:
      case 0x5b: {
        if (depth + 1 > this.#options.maxDepth) this.#fail('exceeded max depth', 'Depth')
        this.#at++
        const list = c === 0x5b
        return new FrameStart({
          list: list ? [] : undefined,
          object: list ? undefined : {},
          keys: [],
          members: undefined,
          key: '',
        })
      }
      case 0x22:
        return this.#string()
      case 0x74:
        return this.#literal('true', true)
      case 0x66:
        return this.#literal('false', false)
      case 0x6e:
        return this.#literal('null', null)
      default:
        if (c === 0x2d || (c !== undefined && c >= 0x30 && c <= 0x39)) return this.#number()
        return this.#fail('looking for beginning of value')
    }
  }

  #end(value: unknown): ReadValue {
    this.#skipSpace()
    if (this.#at < this.#bytes.length) this.#fail('after top-level value')
    return { value, duplicates: this.#duplicates }
  }

  /** Reads the separator after a value and returns whether another value follows. */
  #more(frame: Frame): boolean {
    this.#skipSpace()
    const c = this.#bytes[this.#at]
    const list = frame.list !== undefined
    if (c === 0x2c) {
      this.#at++
      if (!list) {
        this.#skipSpace()
        this.#readKey(frame)
      }
      return true
    }
    if (c === (list ? 0x5d : 0x7d)) {
      this.#at++
      return false
    }
    return this.#fail(list ? 'after array element' : 'after object key:value pair')
  }

  #close(frame: Frame): unknown {
    if (frame.object === undefined) return frame.list
    if (frame.members !== undefined) {
      this.#duplicates ??= new Map()
      this.#duplicates.set(frame.object, frame.members)
    }
    rememberMemberNames(frame.object, frame.keys)
    return frame.object
  }

  #readKey(frame: Frame): void {
    if (this.#bytes[this.#at] !== 0x22) this.#fail('looking for beginning of object key string')
    frame.key = this.#string()
    this.#skipSpace()
    if (this.#bytes[this.#at] !== 0x3a) this.#fail('after object key')
    this.#at++
  }

  #string(): string {
    const start = ++this.#at
    let escaped = false
    let wide = false
    for (;;) {
      const c = this.#bytes[this.#at]
      if (c === 0x22) break
      if (c === undefined || c < 0x20) this.#fail('in string literal')
      this.#at++
      if (c >= 0x80) wide = true
      if (c !== 0x5c) continue
      escaped = true
      this.#escape()
    }
    const end = this.#at++
    const text = wide ? decodeLoosely(this.#bytes.subarray(start, end)) : asciiText(this.#bytes, start, end)
    return escaped ? unescapeJson(text) : text
  }

  #escape(): void {
    const c = this.#bytes[this.#at]
    if (c === 0x75) {
      this.#at++
      for (let i = 0; i < 4; i++, this.#at++) {
        if (!isHex(this.#bytes[this.#at])) this.#fail('in \\u hexadecimal character escape')
      }
    } else if (c !== undefined && simpleEscapes.includes(c)) this.#at++
    else this.#fail('in string escape code')
  }

  #literal<V>(word: string, value: V): V {
    for (let i = 1; i < word.length; i++) {
      this.#at++
      if (this.#bytes[this.#at] !== word.charCodeAt(i)) this.#fail(`in literal ${word} (expecting '${word[i]}')`)
    }
    this.#at++
    return value
  }

  #number(): unknown {
    const start = this.#at
    if (this.#bytes[this.#at] === 0x2d) this.#at++
    if (this.#bytes[this.#at] === 0x30) this.#at++
    else this.#digits('in numeric literal')
    let integer = true
    if (this.#bytes[this.#at] === 0x2e) {
      integer = false
      this.#at++
      this.#digits('after decimal point in numeric literal')
    }
    const exponent = this.#bytes[this.#at]
    if (exponent === 0x65 || exponent === 0x45) {
      integer = false
      this.#at++
      const sign = this.#bytes[this.#at]
      if (sign === 0x2b || sign === 0x2d) this.#at++
      this.#digits('in exponent of numeric literal')
    }
    const text = asciiText(this.#bytes, start, this.#at)
    return integer ? (integerValue(text) ?? this.#float(text)) : this.#float(text)
  }

  #float(text: string): unknown {
    const value = Number(text)
    if (!this.#options.literals) {
      if (!Number.isFinite(value))
        throw new DecodeError({ code: 'Type', message: `json: cannot unmarshal number ${text} into Go value of type float64` })
      return value
    }
    return Number.isInteger(value) || !Number.isFinite(value) ? new NumberLiteral(text) : value
  }

  #digits(context: string): void {
    const start = this.#at
    for (;;) {
      const c = this.#bytes[this.#at]
      if (c === undefined || c < 0x30 || c > 0x39) break
      this.#at++
    }
    if (this.#at === start) this.#fail(context)
  }

  #skipSpace(): void {
    for (;;) {
      const c = this.#bytes[this.#at]
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return
      this.#at++
    }
  }

  #fail(context: string, code: 'Syntax' | 'Depth' = 'Syntax'): never {
    const c = this.#bytes[this.#at]
    if (c === undefined) throw new DecodeError({ code: 'Syntax', message: 'unexpected end of JSON input' })
    throw new DecodeError({ code, message: `invalid character ${quoteByte(c)} ${context}` })
  }
}

class FrameStart {
  readonly frame: Frame
  constructor(frame: Frame) {
    this.frame = frame
  }
}

function store(frame: Frame, value: unknown): void {
  if (frame.object === undefined) {
    frame.list?.push(value)
    return
  }
  const { object, key, keys } = frame
  if (frame.members === undefined || !Object.hasOwn(object, key)) keys.push(key)
  frame.members?.push([key, value])
  setMember(object, key, value)
}

function isRepetition({ object, key }: Frame): boolean {
  return object !== undefined && Object.hasOwn(object, key)
}

/** The members before the first duplicate. */
function* earlierMembers({ object = {}, keys }: Frame): Work<Member[]> {
  const members: Member[] = []
  for (const key of keys) {
    members.push([key, object[key]])
    if (members.length % valuesPerStep === 0) yield
  }
  return members
}

const simpleEscapes: readonly number[] = [...'"\\/bfnrt'].map((char) => char.charCodeAt(0))
const minInt64 = -(2n ** 63n)
const maxInt64 = 2n ** 63n - 1n

/** Returns the value of an integer; `undefined` beyond 64 bits, where integers become floats, as in Go. */
function integerValue(text: string): number | bigint | undefined {
  const value = Number(text)
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value
  if (text.length > 20) return undefined
  const big = BigInt(text)
  return big >= minInt64 && big <= maxInt64 ? big : undefined
}

/** Text of ASCII bytes. */
function asciiText(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > 16) return ascii.decode(bytes.subarray(start, end))
  let text = ''
  for (let i = start; i < end; i++) text += String.fromCharCode(bytes[i] as number)
  return text
}

const ascii = new TextDecoder('utf-8', { ignoreBOM: true })

function isHex(c: number | undefined): boolean {
  return c !== undefined && ((c >= 0x30 && c <= 0x39) || (c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66))
}

/** Resolves complete escapes. Lone surrogates become U+FFFD. */
function unescapeJson(text: string): string {
  const value = JSON.parse(`"${text}"`) as string
  return surrogate.test(value) ? value.replace(loneSurrogate, '\ufffd') : value
}

const surrogate = /[\ud800-\udfff]/
const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** A byte as Go's messages quote it: the character with that code. */
function quoteByte(c: number): string {
  if (c === 0x27) return `'\\''`
  if (c === 0x22) return `'"'`
  return `'${goQuote(String.fromCharCode(c)).slice(1, -1)}'`
}
