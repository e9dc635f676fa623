import type { Work } from '@krmkit/base/work'
import { base64ToBytes, bytesToBase64 } from '../decode/base64.ts'
import type { TypeNode } from '../interfaces.ts'
import {
  fixed64,
  lengthDelimited,
  readBytes,
  readInt32,
  readInt64,
  readText,
  varint,
  type WireReader,
  type WireWriter,
  writeInt64,
} from './wire.ts'

/** Encodes and decodes one value after its tag. */
export interface ValueCodec {
  readonly wire: number
  /** Writes the value without its tag; messages are written with their length. */
  write(writer: WireWriter, value: unknown): void
  /** Reads up to `limit` and counts the size of the value beyond its frame. `depth` is the number of enclosing messages. */
  read(reader: WireReader, limit: number, depth: number): unknown
  /** The pausable form; absent for values that are never large. */
  readonly paced?: { read(reader: WireReader, limit: number, depth: number): Work<unknown> }
  /**
   * Reads one more occurrence of a message into the value of earlier ones; absent when the last occurrence replaces earlier
   * ones.
   */
  merge?(previous: unknown, reader: WireReader, limit: number, depth: number): unknown
  /** Returns the value of a map entry that has no value field. */
  zero(): unknown
  /** Whether the value field is omitted for a null map value; other types write an empty value. */
  readonly omitsNull?: boolean
  /** Whether lists of these values may be packed. */
  readonly packable?: boolean
}

type ScalarName = (TypeNode & { kind: 'scalar' })['scalar']

/** Returns the codec of a scalar; undefined for `any`, which has no protobuf form. */
export function scalarCodec(scalar: ScalarName): ValueCodec | undefined {
  return codecs[scalar]
}

const codecs: Partial<Record<ScalarName, ValueCodec>> = {
  string: {
    wire: lengthDelimited,
    write: (writer, value) => {
      writer.string((value ?? '') as string)
    },
    read: (reader, limit) => countedText(reader, readText(reader, limit)),
    zero: () => '',
  },
  bytes: {
    wire: lengthDelimited,
    write: (writer, value) => {
      writer.bytes(base64ToBytes((value ?? '') as string))
    },
    read: (reader, limit) => countedText(reader, bytesToBase64(readBytes(reader, limit))),
    zero: () => null,
    omitsNull: true,
  },
  bool: {
    wire: varint,
    write: (writer, value) => {
      writer.bool(value === true)
    },
    read: (reader) => readInt64(reader) !== 0,
    zero: () => false,
    packable: true,
  },
  int32: {
    wire: varint,
    write: (writer, value) => {
      writer.int32((value ?? 0) as number)
    },
    read: readInt32,
    zero: () => 0,
    packable: true,
  },
  int64: {
    wire: varint,
    write: (writer, value) => writeInt64(writer, (value ?? 0) as number),
    read: readInt64,
    zero: () => 0,
    packable: true,
  },
  float64: {
    wire: fixed64,
    write: (writer, value) => {
      writer.double(Number(value ?? 0))
    },
    read: (reader) => reader.double(),
    zero: () => 0,
    packable: true,
  },
}

function countedText(reader: WireReader, text: string): string {
  reader.decodedSize.add(text.length)
  return text
}
