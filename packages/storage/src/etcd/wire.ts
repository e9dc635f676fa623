/** Protobuf messages described by tables of field numbers. The only module here that uses the protobuf library. */
import protobuf from 'protobufjs/minimal.js'

/** Kinds of scalar fields. All 64-bit integers are revisions, sizes and identifiers that fit a double. */
type Scalar = 'int' | 'bool' | 'text' | 'bytes'

type FieldType = Scalar | MessageType<object>

type Field = readonly [name: string, type: FieldType, repeated?: 'repeated']

/** Fields by number. */
type Fields = Readonly<Record<number, Field>>

/** A message: its bytes, and its value with all members that have a default. */
export interface MessageType<T extends object> {
  encode(message: Partial<T>): Buffer
  decode(bytes: Uint8Array): T
  /** @internal */
  write(message: object, writer: protobuf.Writer): void
  /** @internal */
  read(reader: protobuf.Reader, end: number): T
}

const wireTypes: Readonly<Record<Scalar, number>> = { int: 0, bool: 0, text: 2, bytes: 2 }
const noBytes = new Uint8Array()

/** Describes a message. Members that are absent when written are left out; unknown fields are skipped when read. */
export function message<T extends object>(fields: Fields): MessageType<T> {
  const numbered = Object.entries(fields).map(([number, field]) => [Number(number), field] as const)
  const type: MessageType<T> = {
    encode(value) {
      const writer = protobuf.Writer.create()
      type.write(value, writer)
      return Buffer.from(writer.finish())
    },
    decode: (bytes) => type.read(protobuf.Reader.create(bytes), bytes.length),
    write(value, writer) {
      for (const [number, [name, fieldType, repeated]] of numbered) {
        const member = (value as Record<string, unknown>)[name]
        if (member === undefined) continue
        for (const item of repeated === undefined ? [member] : (member as unknown[])) writeField(writer, number, fieldType, item)
      }
    },
    read(reader, end) {
      const value = emptyOf(numbered)
      while (reader.pos < end) {
        const tag = reader.uint32()
        const field = fields[tag >>> 3]
        if (field === undefined) {
          reader.skipType(tag & 7)
          continue
        }
        const [name, fieldType, repeated] = field
        const item = readField(reader, fieldType)
        if (repeated === undefined) value[name] = item
        else (value[name] as unknown[]).push(item)
      }
      return value as T
    },
  }
  return type
}

function emptyOf(fields: readonly (readonly [number, Field])[]): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  for (const [, [name, type, repeated]] of fields) {
    if (repeated !== undefined) value[name] = []
    else if (type === 'int') value[name] = 0
    else if (type === 'bool') value[name] = false
    else if (type === 'text') value[name] = ''
    else if (type === 'bytes') value[name] = noBytes
  }
  return value
}

function writeField(writer: protobuf.Writer, number: number, type: FieldType, value: unknown): void {
  if (typeof type === 'object') {
    writer.uint32((number << 3) | 2).fork()
    type.write(value as object, writer)
    writer.ldelim()
    return
  }
  writer.uint32((number << 3) | wireTypes[type])
  if (type === 'int') writer.int64(value as number)
  else if (type === 'bool') writer.bool(value as boolean)
  else if (type === 'text') writer.string(value as string)
  else writer.bytes(value as Uint8Array)
}

function readField(reader: protobuf.Reader, type: FieldType): unknown {
  if (typeof type === 'object') {
    const length = reader.uint32()
    return type.read(reader, reader.pos + length)
  }
  if (type === 'int') return toNumber(reader.int64())
  if (type === 'bool') return reader.bool()
  if (type === 'text') return reader.string()
  // A copy: the message would keep the whole frame alive.
  return new Uint8Array(reader.bytes())
}

/** The library returns objects for 64-bit integers where the package `long` is installed. */
function toNumber(value: number | protobuf.Long): number {
  return typeof value === 'number' ? value : value.high * 2 ** 32 + (value.low >>> 0)
}
