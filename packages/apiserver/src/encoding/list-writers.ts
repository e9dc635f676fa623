import { concatBytes } from '@krmkit/base/bytes'
import type { Work } from '@krmkit/base/work'
import type { ApiBody } from '@krmkit/protocol'
import { type StructType, stringifyJson } from '@krmkit/schema'
import type { CborCodec } from '@krmkit/schema/cbor'
import { JsonIndenter } from '@krmkit/schema/json'
import { ProtobufListEncoder } from '@krmkit/schema/protobuf'
import { yamlChunks } from '@krmkit/schema/yaml'
import { BodyParts } from '../media/body-parts.ts'
import { jsonText } from '../media/response-writer.ts'

/**
 * Encodes lists element by element, so that no step takes longer than the longest element. A generator yields `true` after a long step, to
 * be interrupted there.
 *
 * @see docs/internals/decisions/0011-bounded-work.md
 */

/** A list object without its elements: `list[member]` is empty. Members are in JSON order. */
export interface ListFrame {
  readonly list: Readonly<Record<string, unknown>>
  readonly member: string
  /** Whether an empty list is written as null. */
  readonly nullIfEmpty?: boolean
}

/** Writes one list. */
export interface ListWriter {
  /** Writes one more element. */
  element(object: object): Iterable<unknown>
  /** Ends the list. Call it once. */
  end(): ApiBody
}

/** An element that is already encoded as compact JSON. */
export class ElementText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export function jsonListWriter(frame: ListFrame, { pretty }: { readonly pretty: boolean }): ListWriter {
  return new JsonListWriter(frame, pretty)
}

class JsonListWriter implements ListWriter {
  readonly #parts = new BodyParts()
  readonly #indenter: JsonIndenter | undefined
  readonly #tail: string
  readonly #nullIfEmpty: boolean
  #separator = '['

  constructor({ list, member, nullIfEmpty = false }: ListFrame, pretty: boolean) {
    this.#indenter = pretty ? new JsonIndenter() : undefined
    this.#nullIfEmpty = nullIfEmpty
    const { head, tail } = jsonFrame(list, member)
    this.#tail = `${tail}${pretty ? '' : '\n'}`
    this.#writeAll(head)
  }

  *element(object: object): Work {
    const text = object instanceof ElementText ? object.text : yield* jsonText(object)
    yield* this.#write(this.#separator + text)
    this.#separator = ','
  }

  end(): ApiBody {
    const end = this.#separator === ',' ? ']' : this.#nullIfEmpty ? 'null' : '[]'
    this.#writeAll(`${end}${this.#tail}`)
    return this.#parts.end()
  }

  *#write(text: string): Generator<true, void> {
    if (this.#indenter === undefined) return this.#parts.text(text)
    for (const piece of this.#indenter.chunks(text)) {
      this.#parts.text(piece)
      if (piece.length < text.length) yield true
    }
  }

  #writeAll(text: string): void {
    for (const _ of this.#write(text));
  }
}

/** The text before and after the elements. */
function jsonFrame(list: Readonly<Record<string, unknown>>, member: string): { head: string; tail: string } {
  const members = (names: readonly string[]) =>
    names.filter((name) => list[name] !== undefined).map((name) => `${JSON.stringify(name)}:${stringifyJson(list[name])}`)
  const names = Object.keys(list)
  const at = names.indexOf(member)
  const head = [...members(names.slice(0, at)), `${JSON.stringify(member)}:`].join(',')
  return { head: `{${head}`, tail: `${['', ...members(names.slice(at + 1))].join(',')}}` }
}

/** Writes YAML with sorted keys of mappings, and with lists indented like their keys. */
export function yamlListWriter(frame: ListFrame): ListWriter {
  return new YamlListWriter(frame)
}

class YamlListWriter implements ListWriter {
  readonly #parts = new BodyParts()
  readonly #frame: ListFrame
  /** Names of the members after the list. */
  readonly #after: readonly string[]
  #isEmpty = true

  constructor(frame: ListFrame) {
    this.#frame = frame
    const names = Object.keys(frame.list).sort()
    const at = names.indexOf(frame.member)
    this.#after = names.slice(at + 1)
    this.#writeMembers(names.slice(0, at))
  }

  *element(object: object): Generator<true, void> {
    if (this.#isEmpty) this.#parts.text(`${this.#frame.member}:\n`)
    this.#isEmpty = false
    for (const piece of yamlChunks([object])) {
      this.#parts.text(piece)
      if (piece === '' || piece.length >= longPiece) yield true
    }
  }

  end(): ApiBody {
    const { member, nullIfEmpty = false } = this.#frame
    if (this.#isEmpty) this.#parts.text(`${member}: ${nullIfEmpty ? 'null' : '[]'}\n`)
    this.#writeMembers(this.#after)
    return this.#parts.end()
  }

  #writeMembers(names: readonly string[]): void {
    const { list } = this.#frame
    const shown = names.filter((name) => list[name] !== undefined)
    if (shown.length === 0) return
    for (const piece of yamlChunks(Object.fromEntries(shown.map((name) => [name, list[name]])))) this.#parts.text(piece)
  }
}

/** The writer yields after chunks of this length, and after empty chunks, which represent work without output. */
const longPiece = 4096

/** @param type type of the list. */
export function protobufListWriter({ list, member }: ListFrame, type: StructType): ListWriter {
  const parts = new BodyParts()
  const message = new ProtobufListEncoder(type, list, member)
  return {
    element(object) {
      parts.bytes(message.encodeElement(object))
      return []
    },
    end() {
      const { before, after } = message.frame()
      parts.bytes(after)
      return parts.end(before)
    },
  }
}

export class CborListWriter implements ListWriter {
  readonly #parts = new BodyParts()
  readonly #frame: ListFrame
  readonly #cbor: CborCodec
  readonly #element: StructType | undefined
  #count = 0

  /** @param type type of the list */
  constructor(frame: ListFrame, { cbor, type }: { readonly cbor: CborCodec; readonly type: StructType }) {
    const field = type.custom === undefined ? type.field.get(frame.member)?.type : undefined
    const element = field?.kind === 'list' && field.of.kind === 'struct' ? field.of.struct() : undefined
    this.#frame = frame
    this.#cbor = cbor
    this.#element = element ?? (type.custom === undefined ? undefined : type)
  }

  *element(object: object): Work {
    this.#count++
    this.#parts.bytes(yield* this.#cbor.paced.encodeBare(object, this.#element))
  }

  end(): ApiBody {
    const { list, member, nullIfEmpty = false } = this.#frame
    const cbor = this.#cbor
    const others = Object.entries(list).filter(([name, value]) => name !== member && value !== undefined)
    const head: Uint8Array[] = [Uint8Array.of(0xd9, 0xd9, 0xf7, 0xa0 + others.length + 1)]
    for (const [name, value] of others) head.push(cbor.encodeBare(name), cbor.encodeBare(value))
    head.push(cbor.encodeBare(member), this.#count === 0 && nullIfEmpty ? cbor.encodeBare(null) : arrayHead(this.#count))
    return this.#parts.end(concatBytes(head))
  }
}

/** The head of a CBOR array of this length. */
function arrayHead(length: number): Uint8Array {
  if (length < 24) return Uint8Array.of(0x80 + length)
  const head = new DataView(new ArrayBuffer(5))
  head.setUint8(0, 0x9a)
  head.setUint32(1, length)
  return new Uint8Array(head.buffer)
}
