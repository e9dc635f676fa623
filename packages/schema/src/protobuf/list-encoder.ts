import type { ListNode, StructType } from '../interfaces.ts'
import { SchemaError } from '../schema-error.ts'
import { closeEnvelope, openEnvelope } from './envelope.ts'
import { encodeMessage } from './protobuf.ts'
import { bytesTag, newWriter } from './wire.ts'

/**
 * Encodes a list object as protobuf, element by element.
 *
 *     envelope up to the list's message | its other fields | element ... element | end of the envelope
 *
 * Other fields with higher numbers follow the elements.
 *
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { ProtobufListEncoder } from '@krmkit/schema/protobuf'
 * const types = builtInTypes()
 * const list = { apiVersion: 'v1', kind: 'ConfigMapList', metadata: {}, items: [] }
 * const encoder = new ProtobufListEncoder(types.struct('core/v1.ConfigMapList'), list, 'items')
 * const element = encoder.encodeElement({ metadata: { name: 'web' } })
 * const { before, after } = encoder.frame()
 */
export class ProtobufListEncoder {
  readonly #list: object
  readonly #fields: Uint8Array
  readonly #fieldsFollow: boolean
  readonly #tag: number
  readonly #element: () => StructType
  #length: number

  /**
   * @param list canonical, without elements.
   * @param member name of the field that holds the elements; must be the first or the last field of the message.
   * @throws SchemaError `NoProtobuf` for types without this form.
   */
  constructor(type: StructType, list: object, member: string) {
    const field = type.proto?.find((each) => each.kind === 'field' && each.field.json === member)
    const node = field?.kind === 'field' ? field.field.type : undefined
    const others = type.proto?.filter(({ number }) => number !== field?.number) ?? []
    const isLast = others.every(({ number }) => number < (field?.number ?? 0))
    const isFirst = others.every(({ number }) => number > (field?.number ?? 0))
    if (field === undefined || !isListOfStructs(node) || !(isLast || isFirst))
      throw new SchemaError({ code: 'NoProtobuf', message: `${type.name} is no list of ${member} in protobuf` })
    this.#list = list
    this.#fields = encodeMessage(type, list)
    this.#fieldsFollow = !isLast
    this.#tag = bytesTag(field.number)
    this.#element = node.of.struct
    this.#length = this.#fields.byteLength
  }

  /** Encodes one more element. */
  encodeElement(object: object): Uint8Array {
    const bytes = newWriter().uint32(this.#tag).bytes(encodeMessage(this.#element(), object)).finish()
    this.#length += bytes.byteLength
    return bytes
  }

  /** The bytes before and after the elements; call after the last element. */
  frame(): { readonly before: Uint8Array; readonly after: Uint8Array } {
    const { apiVersion, kind } = this.#list as { apiVersion?: unknown; kind?: unknown }
    const head = openEnvelope(String(apiVersion ?? ''), String(kind ?? ''))
    head.uint32(this.#length)
    if (this.#fieldsFollow) return { before: head.finish(), after: closeEnvelope(newWriter().raw(this.#fields)) }
    return { before: head.raw(this.#fields).finish(), after: closeEnvelope(newWriter()) }
  }
}

function isListOfStructs(node: unknown): node is ListNode & { readonly of: { readonly struct: () => StructType } } {
  const { kind, of } = (node ?? {}) as { kind?: string; of?: { kind?: string } }
  return kind === 'list' && of?.kind === 'struct'
}
