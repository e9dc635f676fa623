import { SchemaError } from '../errors.ts'
import type { ListNode, StructType } from '../interfaces.ts'
import { closeEnvelope, openEnvelope } from './envelope.ts'
import { encodeMessage } from './protobuf.ts'
import { lengthDelimited, newWriter } from './wire.ts'

/**
 * A list object as protobuf whose elements are encoded one by one.
 *
 *     envelope up to the list's message | its other fields | element ... element | end of the envelope
 */
export class ListMessage {
  readonly #list: object
  readonly #fields: Uint8Array
  readonly #tag: number
  readonly #element: () => StructType
  #length: number

  /**
   * @param list canonical, with no elements.
   * @param member of the list that holds the elements; the last of its fields.
   * @throws SchemaError `NoProtobuf` for types that have no such form.
   */
  constructor(type: StructType, list: object, member: string) {
    const field = type.proto?.find((each) => each.kind === 'field' && each.field.json === member)
    const node = field?.kind === 'field' ? field.field.type : undefined
    const isLast = type.proto?.every(({ number }) => number <= (field?.number ?? 0))
    if (field === undefined || !isListOfStructs(node) || isLast !== true)
      throw new SchemaError('NoProtobuf', `${type.name} is no list of ${member} in protobuf`)
    this.#list = list
    this.#fields = encodeMessage(type, list)
    this.#tag = (field.number << 3) | lengthDelimited
    this.#element = node.of.struct
    this.#length = this.#fields.byteLength
  }

  /** The bytes of one more element. */
  element(object: object): Uint8Array {
    const bytes = newWriter().uint32(this.#tag).bytes(encodeMessage(this.#element(), object)).finish()
    this.#length += bytes.byteLength
    return bytes
  }

  /** What stands before the elements and after them, once all are encoded. */
  around(): { readonly before: Uint8Array; readonly after: Uint8Array } {
    const { apiVersion, kind } = this.#list as { apiVersion?: unknown; kind?: unknown }
    const head = openEnvelope(String(apiVersion ?? ''), String(kind ?? ''))
    return { before: head.uint32(this.#length).raw(this.#fields).finish(), after: closeEnvelope(newWriter()) }
  }
}

function isListOfStructs(node: unknown): node is ListNode & { readonly of: { readonly struct: () => StructType } } {
  const { kind, of } = (node ?? {}) as { kind?: string; of?: { kind?: string } }
  return kind === 'list' && of?.kind === 'struct'
}
