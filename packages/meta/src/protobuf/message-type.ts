import { WireReader } from './wire-reader.ts'
import { WireWriter, wireType } from './wire-writer.ts'

/** Types of scalar fields. Integers and times are numbers: those that fit a double exactly, or lose what it cannot hold. */
export type ScalarType = 'int' | 'bool' | 'text' | 'bytes' | 'fixed32' | 'fixed64' | 'double'

export type FieldType = ScalarType | MessageType<object>

/** A field: the member of the value that holds it, its type, and whether the member is an array. */
export type MessageField = readonly [name: string, type: FieldType, repeated?: 'repeated']

const wireTypes: Readonly<Record<ScalarType, number>> = {
  int: wireType.varint,
  bool: wireType.varint,
  text: wireType.bytes,
  bytes: wireType.bytes,
  fixed32: wireType.fixed32,
  fixed64: wireType.fixed64,
  double: wireType.fixed64,
}
const defaults: Readonly<Record<ScalarType, unknown>> = {
  ...{ int: 0, bool: false, text: '', bytes: new Uint8Array() },
  ...{ fixed32: 0, fixed64: 0, double: 0 },
}
/** One writer serves all messages: it is empty whenever no message is being encoded. */
const writer = new WireWriter()

/**
 * A protobuf message described by a table of its fields. Members that are absent or undefined are not written. Reading skips unknown
 * fields, and gives absent scalars their defaults and absent arrays no elements; absent messages stay absent.
 *
 * @example
 * import { MessageType } from '@krmkit/meta/protobuf'
 * const item = new MessageType<{ key: string; size: number }>({ 1: ['key', 'text'], 2: ['size', 'int'] })
 * const list = new MessageType<{ items: { key: string; size: number }[] }>({ 1: ['items', item, 'repeated'] })
 * list.decode(list.encode({ items: [{ key: 'a', size: 300 }] })) // { items: [ { key: 'a', size: 300 } ] }
 */
export class MessageType<T extends object> {
  readonly #fields: Readonly<Record<number, MessageField>>
  /** By falling number, the order in which they are written. */
  readonly #backwards: readonly (readonly [number: number, field: MessageField])[]
  /** Scalar members with their defaults. */
  readonly #empty: object
  readonly #repeatedNames: readonly string[]

  /** @param fields by number */
  constructor(fields: Readonly<Record<number, MessageField>>) {
    const numbered = Object.entries(fields).map(([number, field]) => [Number(number), field] as const)
    const scalars = numbered.filter(([, [, type, repeated]]) => typeof type === 'string' && repeated === undefined)
    this.#fields = fields
    this.#backwards = numbered.toReversed()
    this.#empty = Object.fromEntries(scalars.map(([, [name, type]]) => [name, defaults[type as ScalarType]]))
    this.#repeatedNames = numbered.flatMap(([, [name, , repeated]]) => (repeated === undefined ? [] : [name]))
  }

  encode(message: Partial<T>): Buffer {
    return this.encodeAfter(0, message)
  }

  /** @param headBytes zero bytes before the message @returns those and the message */
  encodeAfter(headBytes: number, message: Partial<T>): Buffer {
    try {
      this.#write(message, writer)
      return writer.result(headBytes)
    } finally {
      writer.clear()
    }
  }

  /** The result holds no part of `bytes`. @throws RangeError for damage */
  decode(bytes: Uint8Array): T {
    return this.#read(new WireReader(bytes), bytes.length)
  }

  #write(message: object, target: WireWriter): void {
    for (const [number, [name, type, repeated]] of this.#backwards) {
      const member = (message as Record<string, unknown>)[name]
      if (member === undefined) continue
      if (repeated === undefined) MessageType.#writeField(target, { number, type }, member)
      else {
        const items = member as readonly unknown[]
        for (let at = items.length - 1; at >= 0; at--) MessageType.#writeField(target, { number, type }, items[at])
      }
    }
  }

  #read(reader: WireReader, end: number): T {
    const value: Record<string, unknown> = { ...this.#empty }
    for (const name of this.#repeatedNames) value[name] = []
    while (reader.at < end) {
      const tag = reader.integer()
      const field = this.#fields[Math.floor(tag / 8)]
      if (field === undefined) {
        reader.skip(tag % 8)
        continue
      }
      const [name, type, repeated] = field
      const item = typeof type === 'object' ? type.#read(reader, reader.end()) : readScalar(reader, type)
      if (repeated === undefined) value[name] = item
      else (value[name] as unknown[]).push(item)
    }
    return value as T
  }

  /** Writes backwards: the value before its length and its tag. */
  static #writeField(
    target: WireWriter,
    { number, type }: { readonly number: number; readonly type: FieldType },
    value: unknown,
  ): void {
    if (typeof type === 'object') {
      const before = target.length
      type.#write(value as object, target)
      target.integer(target.length - before)
      target.integer(number * 8 + wireType.bytes)
      return
    }
    writeScalar(target, type, value)
    target.integer(number * 8 + wireTypes[type])
  }
}

function writeScalar(target: WireWriter, type: ScalarType, value: unknown): void {
  if (type === 'int') target.integer(value as number)
  else if (type === 'bool') target.integer(value === true ? 1 : 0)
  else if (type === 'fixed64') target.fixed64(value as number)
  else if (type === 'fixed32') target.fixed32(value as number)
  else if (type === 'double') target.double(value as number)
  else if (type === 'text') target.text(value as string)
  else {
    target.bytes(value as Uint8Array)
    target.integer((value as Uint8Array).length)
  }
}

function readScalar(reader: WireReader, type: ScalarType): unknown {
  if (type === 'int') return reader.integer()
  if (type === 'bool') return reader.integer() !== 0
  if (type === 'fixed64') return reader.fixed64()
  if (type === 'fixed32') return reader.fixed32()
  if (type === 'double') return reader.double()
  return type === 'text' ? reader.text(reader.end()) : reader.bytes(reader.end())
}
