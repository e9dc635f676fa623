import protobuf from 'protobufjs/minimal.js'

/** Types of scalar fields. Integers and times are numbers; values beyond the exact range of doubles lose precision. */
export type ScalarType = 'int' | 'bool' | 'text' | 'bytes' | 'fixed32' | 'fixed64' | 'double'

export type FieldType = ScalarType | MessageType<object>

/** A field: the member of the value that holds it, its type, and whether the member is an array. */
export type MessageField = readonly [name: string, type: FieldType, repeated?: 'repeated']

/** Reader and writer of a scalar type. */
interface Scalar {
  readonly wireType: number
  readonly default: unknown
  write(writer: protobuf.Writer, value: never): unknown
  read(reader: protobuf.Reader): unknown
}

const lengthDelimited = 2
const scalars: Readonly<Record<ScalarType, Scalar>> = {
  int: { wireType: 0, default: 0, write: writeInteger, read: readInteger },
  bool: { wireType: 0, default: false, write: (writer, value) => writer.bool(value), read: (reader) => reader.bool() },
  text: { wireType: lengthDelimited, default: '', write: writeText, read: readText },
  bytes: { wireType: lengthDelimited, default: new Uint8Array(), write: (writer, value) => writer.bytes(value), read: readCopy },
  fixed32: { wireType: 5, default: 0, write: (writer, value) => writer.fixed32(value), read: (reader) => reader.fixed32() },
  fixed64: {
    wireType: 1,
    default: 0,
    write: (writer, value) => writer.fixed64(value),
    read: (reader) => Number(reader.fixed64()),
  },
  double: { wireType: 1, default: 0, write: (writer, value) => writer.double(value), read: (reader) => reader.double() },
}

/** A field with the tag that precedes its value. */
interface TaggedField {
  readonly tag: number
  readonly name: string
  readonly type: Scalar | MessageType<object>
  readonly isRepeated: boolean
}

/**
 * A protobuf message described by a table of its fields. Members that are absent or undefined are not written. Decoding
 * skips unknown fields, sets absent scalars to their defaults and absent arrays to empty; absent messages stay absent.
 *
 * @example
 * import { MessageType } from '@krmkit/base/protobuf'
 * const item = new MessageType<{ key: string; size: number }>({ 1: ['key', 'text'], 2: ['size', 'int'] })
 * const list = new MessageType<{ items: { key: string; size: number }[] }>({ 1: ['items', item, 'repeated'] })
 * list.decode(list.encode({ items: [{ key: 'a', size: 300 }] })) // { items: [ { key: 'a', size: 300 } ] }
 */
export class MessageType<T extends object> {
  /** By ascending number, the order in which they are written. */
  readonly #fields: readonly TaggedField[]
  readonly #byNumber: ReadonlyMap<number, TaggedField>
  /** Scalar members with their defaults. */
  readonly #empty: object

  /** @param fields by number */
  constructor(fields: Readonly<Record<number, MessageField>>) {
    this.#fields = Object.entries(fields).map(([number, [name, type, repeated]]) => {
      const known = typeof type === 'string' ? scalars[type] : type
      const wireType = known instanceof MessageType ? lengthDelimited : known.wireType
      return { tag: (Number(number) << 3) | wireType, name, type: known, isRepeated: repeated !== undefined }
    })
    this.#byNumber = new Map(this.#fields.map((field) => [field.tag >>> 3, field]))
    const singular = this.#fields.filter(({ isRepeated }) => !isRepeated)
    this.#empty = Object.fromEntries(
      singular.flatMap(({ name, type }) => (type instanceof MessageType ? [] : [[name, type.default]])),
    )
  }

  encode(message: Partial<T>): Buffer {
    return this.encodeAfter(0, message)
  }

  /** @param headBytes zero bytes before the message @returns those and the message */
  encodeAfter(headBytes: number, message: Partial<T>): Buffer {
    const writer = protobuf.Writer.create()
    for (let at = 0; at < headBytes; at++) writer.uint32(0)
    this.#write(message, writer)
    const { buffer, byteOffset, length } = writer.finish()
    return Buffer.from(buffer, byteOffset, length)
  }

  /** Decodes a message; the result does not share memory with `bytes`. @throws RangeError for malformed input */
  decode(bytes: Uint8Array): T {
    try {
      return this.#read(protobuf.Reader.create(bytes), bytes.length)
    } catch (error) {
      throw error instanceof RangeError ? error : new RangeError(String(error), { cause: error })
    }
  }

  #write(message: object, writer: protobuf.Writer): void {
    for (const { tag, name, type, isRepeated } of this.#fields) {
      const member = (message as Record<string, unknown>)[name]
      if (member === undefined) continue
      for (const value of isRepeated ? (member as readonly unknown[]) : [member]) {
        writer.uint32(tag)
        if (type instanceof MessageType) {
          writer.fork()
          type.#write(value as object, writer)
          writer.ldelim()
        } else type.write(writer, value as never)
      }
    }
  }

  #read(reader: protobuf.Reader, end: number): T {
    const value: Record<string, unknown> = { ...this.#empty }
    for (const { name, isRepeated } of this.#fields) if (isRepeated) value[name] = []
    while (reader.pos < end) {
      const tag = reader.uint32()
      const field = this.#byNumber.get(tag >>> 3)
      if (field === undefined) {
        reader.skipType(tag & 7)
        continue
      }
      const { name, type, isRepeated } = field
      const item = type instanceof MessageType ? type.#read(reader, readEnd(reader)) : type.read(reader)
      if (isRepeated) (value[name] as unknown[]).push(item)
      else value[name] = item
    }
    return value as T
  }
}

/** Reads the length of a value. @returns the position after the value */
function readEnd(reader: protobuf.Reader): number {
  const length = reader.uint32()
  const end = reader.pos + length
  if (end > reader.len) throw new RangeError('a message is cut off')
  return end
}

function writeInteger(writer: protobuf.Writer, value: number): void {
  if (value >= 0 && value < 2 ** 32) writer.uint32(value)
  else writer.int64(value)
}

function readInteger(reader: protobuf.Reader): number {
  const first = reader.buf[reader.pos]
  return first !== undefined && first < 128 ? reader.uint32() : Number(reader.int64())
}

/** Lone surrogates are replaced, which the library would not do. */
function writeText(writer: protobuf.Writer, value: string): void {
  writer.bytes(Buffer.from(value))
}

function readText(reader: protobuf.Reader): string {
  const end = readEnd(reader)
  const bytes = reader.buf.subarray(reader.pos, end)
  reader.pos = end
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
}

/** Copies bytes, because a view would keep the whole frame in memory. */
function readCopy(reader: protobuf.Reader): Uint8Array {
  const end = readEnd(reader)
  const copy = new Uint8Array(reader.buf.subarray(reader.pos, end))
  reader.pos = end
  return copy
}
