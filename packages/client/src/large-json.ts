import { utf8Bytes, utf8Text } from '@krmkit/base/bytes'
import { createTurns, memberNames, runInLaterTurns, type Work } from '@krmkit/base/work'
import { setMember } from '@krmkit/meta'

/**
 * Encodes and parses JSON of large values in time slices, with the results of `JSON.stringify` and `JSON.parse`, because a
 * client may share its thread with a server.
 *
 * @see docs/internals/decisions/0011-bounded-work.md
 */

/** Size above which a body is parsed in slices. */
export const largeBodyBytes = 256 * 1024

const turns = /* @__PURE__ */ createTurns()

/** Encodes a large value. It must not change meanwhile. */
export async function encodeLargeJson(value: unknown): Promise<Uint8Array> {
  return utf8Bytes(await runInLaterTurns(stringify(value), turns))
}

/** Parses a large document. @throws SyntaxError */
export function parseLargeJson(bytes: Uint8Array): Promise<unknown> {
  return runInLaterTurns(parse(bytes), turns)
}

/** Members or elements written between two yields. */
const membersPerStep = 128

/** Pausable form of `JSON.stringify`. */
export function* stringify(value: unknown): Work<string> {
  const parts: string[] = []
  yield* write(value, parts)
  return parts.join('')
}

/** @returns whether anything was written; false for `undefined` and functions */
function* write(value: unknown, parts: string[]): Work<boolean> {
  if (Array.isArray(value)) yield* writeList(value, parts)
  else if (isPlainObject(value)) yield* writeObject(value, parts)
  else {
    const text = JSON.stringify(value) as string | undefined
    if (text === undefined) return false
    parts.push(text)
  }
  return true
}

function* writeList(list: readonly unknown[], parts: string[]): Work {
  let group: string[] = ['[']
  for (let i = 0; i < list.length; i++) {
    if (i > 0) group.push(',')
    if (!(yield* write(list[i], group))) group.push('null')
    if (i % membersPerStep !== membersPerStep - 1) continue
    parts.push(group.join(''))
    group = []
    yield
  }
  parts.push(group.join(''), ']')
}

function* writeObject(object: Readonly<Record<string, unknown>>, parts: string[]): Work {
  const names = memberNames(object)
  if (names.length > membersPerStep) yield true
  let group: string[] = ['{']
  let separator = ''
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string
    group.push(`${separator}${JSON.stringify(name)}:`)
    if (yield* write(object[name], group)) separator = ','
    else group.pop()
    if (i % membersPerStep !== membersPerStep - 1) continue
    parts.push(group.join(''))
    group = []
    yield
  }
  parts.push(group.join(''), '}')
}

/** Whether an object is written member by member. Others, such as dates, are written in one step. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false
  const prototype = Object.getPrototypeOf(value) as unknown
  return prototype === Object.prototype || prototype === null
}

/** Pausable form of `JSON.parse`. @throws SyntaxError */
export function* parse(bytes: Uint8Array): Work<unknown> {
  const text = utf8Text(bytes)
  yield true
  const parsed = yield* new PieceParser(text).parse()
  return parsed === undefined ? JSON.parse(text) : parsed.value
}

/** Length of the pieces that `JSON.parse` parses in one step. */
const pieceLength = 4096

/** An object or a list whose end was not reached yet. */
interface OpenContainer {
  readonly isList: boolean
  /** Position of the bracket. */
  readonly at: number
  /** Start of the members that are not parsed yet. */
  from: number
  /** Start of the current member. */
  member: number
  /** Whether the current member is a container that was parsed separately. */
  isParsed: boolean
  /** The value; created when a piece ends inside the container. */
  value: Record<string, unknown> | unknown[] | undefined
}

/** Finds the commas between members, and parses the members between two of them as one piece. */
class PieceParser {
  readonly #text: string
  readonly #open: OpenContainer[] = []
  /** Number of open containers, from the outermost, whose value was created. */
  #begun = 0

  constructor(text: string) {
    this.#text = text
  }

  /**
   * @returns the value; undefined for text that `JSON.parse` should parse in one step, because it is invalid or has too few
   *   commas
   */
  *parse(): Work<{ readonly value: unknown } | undefined> {
    try {
      return yield* this.#read()
    } catch (error) {
      if (error instanceof SyntaxError) return undefined
      throw error
    }
  }

  *#read(): Work<{ readonly value: unknown } | undefined> {
    const text = this.#text
    const open = this.#open
    let parsedTo = 0
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === quote) at = this.#endOfString(at)
      else if (code === openBrace || code === openBracket) {
        const isList = code === openBracket
        open.push({ isList, at, from: at + 1, member: at + 1, isParsed: false, value: undefined })
      } else if (code === comma) {
        const top = open.at(-1)
        if (top === undefined) return undefined
        if (top.isParsed || at - parsedTo > pieceLength) {
          this.#begin()
          this.#parseTo(top, at)
          parsedTo = at
          top.from = at + 1
          yield
        }
        top.member = at + 1
      } else if (code === closeBrace || code === closeBracket) {
        const top = open.pop()
        if (top?.isList !== (code === closeBracket)) return undefined
        if (top.value === undefined) continue
        this.#parseTo(top, at)
        this.#begun--
        parsedTo = at
        const parent = open.at(-1)
        if (parent === undefined) return this.#isBlank(at + 1, text.length) ? { value: top.value } : undefined
        parent.from = at + 1
        parent.isParsed = true
        yield
      }
    }
    return undefined
  }

  #endOfString(start: number): number {
    const text = this.#text
    for (let at = start + 1; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === quote) return at
      if (code === backslash) at++
    }
    throw new SyntaxError()
  }

  /** Creates the values of all open containers, outermost first. */
  #begin(): void {
    const open = this.#open
    for (; this.#begun < open.length; this.#begun++) {
      const container = open[this.#begun] as OpenContainer
      const parent = open[this.#begun - 1]
      container.value = container.isList ? [] : {}
      if (parent === undefined) continue
      if (parent.member > parent.from) this.#parseTo(parent, parent.member - 1)
      if (!Array.isArray(parent.value)) addMembers(parent, `${this.#text.slice(parent.member, container.at)}{}`, container.value)
      else if (this.#isBlank(parent.member, container.at)) parent.value.push(container.value)
      else throw new SyntaxError()
    }
  }

  /** Parses the members of a container up to a position. */
  #parseTo(container: OpenContainer, end: number): void {
    const isBlank = this.#isBlank(container.from, end)
    // After a separately parsed member no text may follow; after a comma a member must follow.
    if (isBlank !== container.isParsed) throw new SyntaxError()
    if (!isBlank) addMembers(container, this.#text.slice(container.from, end))
    container.isParsed = false
  }

  #isBlank(from: number, end: number): boolean {
    for (let at = from; at < end; at++) if (!blanks.includes(this.#text.charCodeAt(at))) return false
    return true
  }
}

const [quote, backslash, comma, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x5c, 0x2c, 0x7b, 0x7d, 0x5b, 0x5d]
const blanks: readonly number[] = [0x20, 0x0a, 0x0d, 0x09]

/** Parses members and adds them to a container. @param value replaces the value of the only member */
function addMembers({ value: container }: OpenContainer, text: string, value?: unknown): void {
  if (Array.isArray(container)) {
    for (const element of JSON.parse(`[${text}]`) as unknown[]) container.push(element)
    return
  }
  const members = JSON.parse(`{${text}}`) as Record<string, unknown>
  for (const key in members) setMember(container as Record<string, unknown>, key, value ?? members[key])
}
