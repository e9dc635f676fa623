/** Protobuf messages described by tables of field numbers. */
import { WireReader } from './wire-reader.ts'
import { WireWriter, wireType } from './wire-writer.ts'

/** Kinds of scalar fields. All 64-bit integers are revisions, sizes and identifiers that fit a double. */
type Scalar = 'int' | 'bool' | 'text' | 'bytes'

type FieldType = Scalar | MessageType<object>

type Field = readonly [name: string, type: FieldType, repeated?: 'repeated']

/** Fields by number. */
type Fields = Readonly<Record<number, Field>>

/** A message: its bytes, and its value with all members that have a default. */
export interface MessageType<T extends object> {
  encode(message: Partial<T>): Buffer
  /** @param headBytes zero bytes before the message @returns those and the message */
  encodeAfter(headBytes: number, message: Partial<T>): Buffer
  /** The result holds no part of `bytes`. @throws RangeError for damage */
  decode(bytes: Uint8Array): T
  /** @internal */
  write(message: object, writer: WireWriter): void
  /** @internal */
  read(reader: WireReader, end: number): T
}

const wireTypes: Readonly<Record<Scalar, number>> = {
  int: wireType.varint,
  bool: wireType.varint,
  text: wireType.bytes,
  bytes: wireType.bytes,
}
const defaults: Readonly<Record<Scalar, unknown>> = { int: 0, bool: false, text: '', bytes: new Uint8Array() }
/** One writer serves all messages: it is empty whenever no message is being encoded. */
const writer = new WireWriter()

/** Describes a message. Members that are absent when written are left out; unknown fields are skipped when read. */
export function message<T extends object>(fields: Fields): MessageType<T> {
  const numbered = Object.entries(fields).map(([number, field]) => [Number(number), field] as const)
  const backwards = numbered.toReversed()
  const scalars = numbered.filter(([, [, type, repeated]]) => typeof type === 'string' && repeated === undefined)
  const empty = Object.fromEntries(scalars.map(([, [name, type]]) => [name, defaults[type as Scalar]]))
  const repeatedNames = numbered.flatMap(([, [name, , repeated]]) => (repeated === undefined ? [] : [name]))
  const type: MessageType<T> = {
    encode: (value) => type.encodeAfter(0, value),
    encodeAfter(headBytes, value) {
      try {
        type.write(value, writer)
        return writer.result(headBytes)
      } finally {
        writer.clear()
      }
    },
    decode: (bytes) => type.read(new WireReader(bytes), bytes.length),
    write(value, target) {
      for (const [number, [name, fieldType, repeated]] of backwards) {
        const member = (value as Record<string, unknown>)[name]
        if (member === undefined) continue
        if (repeated === undefined) writeField(target, { number, type: fieldType }, member)
        else for (const item of (member as readonly unknown[]).toReversed()) writeField(target, { number, type: fieldType }, item)
      }
    },
    read(reader, end) {
      const value: Record<string, unknown> = { ...empty }
      for (const name of repeatedNames) value[name] = []
      while (reader.at < end) {
        const tag = reader.integer()
        const field = fields[Math.floor(tag / 8)]
        if (field === undefined) {
          reader.skip(tag % 8)
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

/** Writes backwards: the value before its length and its tag. */
function writeField(
  target: WireWriter,
  { number, type }: { readonly number: number; readonly type: FieldType },
  value: unknown,
): void {
  if (typeof type === 'object') {
    const before = target.length
    type.write(value as object, target)
    target.integer(target.length - before)
    target.integer(number * 8 + wireType.bytes)
    return
  }
  if (type === 'int') target.integer(value as number)
  else if (type === 'bool') target.integer(value === true ? 1 : 0)
  else {
    const bytes = type === 'text' ? Buffer.from(value as string) : (value as Uint8Array)
    target.bytes(bytes)
    target.integer(bytes.length)
  }
  target.integer(number * 8 + wireTypes[type])
}

function readField(reader: WireReader, type: FieldType): unknown {
  if (type === 'int') return reader.integer()
  if (type === 'bool') return reader.integer() !== 0
  const end = reader.end()
  if (typeof type === 'object') return type.read(reader, end)
  return type === 'text' ? reader.text(end) : reader.bytes(end)
}
