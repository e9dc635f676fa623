import { formatDuration, formatTime, MetaError, parseDuration } from '@krmkit/meta'
import { normalizeQuantity } from '@krmkit/meta/quantity'
import { formatMicroTime, type Instant, parseInstant } from '@krmkit/meta/time'
import { specialZero } from '../decode/special.ts'
import type { SpecialNode, StructType } from '../interfaces.ts'
import { unescapedJson } from '../json/engine.ts'
import { DecodeError, SchemaError } from '../schema-error.ts'
import { scalarCodec, type ValueCodec } from './codec.ts'
import { readRawJson } from './raw-json.direct.ts'
import * as paced from './raw-json.ts'
import {
  bytesTag,
  lengthDelimited,
  readFields,
  readInt32,
  readInt64,
  readText,
  tagOf,
  varint,
  type WireWriter,
  writeInt64,
} from './wire.ts'

/** Messages of the special types. */

/** Creates the codec of a struct inside a `JSONSchemaPropsOr…` value. */
export type StructCodec = (struct: () => StructType) => ValueCodec

export function specialCodec(node: SpecialNode, structCodec: StructCodec): ValueCodec {
  const { special, struct } = node
  if (struct !== undefined) return schemaCodec(special, structCodec(struct))
  const codec = codecs[special]
  if (codec === undefined) throw new SchemaError({ code: 'NoProtobuf', message: `${special} has no protobuf form` })
  return { wire: lengthDelimited, zero: () => specialZero(special), ...codec }
}

type MessageCodec = Pick<ValueCodec, 'write' | 'read' | 'paced'>

const numberTag = (number: number) => tagOf(number, varint)

const codecs: Readonly<Record<string, MessageCodec>> = {
  Time: timeCodec((instant) => formatTime({ ...instant, nanos: 0 }), '0001-01-01T00:00:00Z'),
  MicroTime: timeCodec(formatMicroTime, '0001-01-01T00:00:00.000000Z'),
  Duration: {
    write(writer, value) {
      writer.fork().uint32(numberTag(1))
      writeInt64(writer, parseDuration(value as string))
      writer.ldelim()
    },
    read(reader, limit) {
      let nanos = 0n
      readFields(reader, limit, { [numberTag(1)]: () => (nanos = BigInt(readInt64(reader))) })
      return formatDuration(nanos)
    },
  },
  Quantity: textCodec(),
  QuantityValue: textCodec(),
  IntOrString: {
    write(writer, value) {
      const text = typeof value === 'string'
      writer
        .fork()
        .uint32(numberTag(1))
        .int32(text ? 1 : 0)
      writer.uint32(numberTag(2)).int32(text ? 0 : Number(value ?? 0))
      writer
        .uint32(bytesTag(3))
        .string(text ? value : '')
        .ldelim()
    },
    read(reader, limit) {
      let type: number | bigint = 0
      let int = 0
      let text = ''
      readFields(reader, limit, {
        [numberTag(1)]: () => (type = readInt64(reader)),
        [numberTag(2)]: () => (int = readInt32(reader)),
        [bytesTag(3)]: (end) => (text = readText(reader, end)),
      })
      return type === 0 ? int : text
    },
  },
  RawExtension: rawCodec(),
  FieldsV1: rawCodec(),
  JSON: rawCodec(),
}

/** A time in seconds and nanoseconds; null is an empty message. */
function timeCodec(format: (instant: Instant) => string, zero: string): MessageCodec {
  return {
    write(writer, value) {
      writer.fork()
      if (typeof value === 'string') {
        const { seconds, nanos } = parseInstant(value)
        writer.uint32(numberTag(1))
        writeInt64(writer, seconds)
        writer.uint32(numberTag(2)).int32(nanos)
      }
      writer.ldelim()
    },
    read(reader, limit) {
      let seconds: number | bigint | undefined
      let nanos = 0
      readFields(reader, limit, {
        [numberTag(1)]: () => (seconds = readInt64(reader)),
        [numberTag(2)]: () => (nanos = readInt32(reader)),
      })
      if (seconds === undefined && nanos === 0) return null
      const text = formatInstant({ seconds: Number(seconds ?? 0), nanos }, format)
      return text === zero ? null : text
    },
  }
}

function formatInstant(instant: Instant, format: (instant: Instant) => string): string {
  const { seconds, nanos } = instant
  if (Math.abs(seconds) > 8_640_000_000_000 || nanos < 0 || nanos >= 1_000_000_000) {
    throw new DecodeError({ code: 'Protobuf', message: `timestamp out of range: ${seconds}s ${nanos}ns` })
  }
  return format(instant)
}

function textCodec(): MessageCodec {
  return {
    write(writer, value) {
      writer
        .fork()
        .uint32(bytesTag(1))
        .string((value ?? '0') as string)
        .ldelim()
    },
    read(reader, limit) {
      let text: string | undefined
      readFields(reader, limit, { [bytesTag(1)]: (end) => (text = readText(reader, end)) })
      if (text === undefined) return '0'
      try {
        return normalizeQuantity(text)
      } catch (error) {
        if (error instanceof MetaError) throw new DecodeError({ code: 'Value', message: error.message, cause: error })
        throw error
      }
    },
  }
}

/** JSON text in a message; null is an empty message. */
function rawCodec(): MessageCodec {
  return {
    write(writer, value) {
      writer.fork()
      if (value !== null && value !== undefined) writer.uint32(bytesTag(1)).string(unescapedJson(value))
      writer.ldelim()
    },
    read: readRawJson,
    paced: { read: paced.readRawJson },
  }
}

function schemaCodec(special: string, schema: ValueCodec): ValueCodec {
  const text = scalarCodec('string') as ValueCodec
  const element = special === 'JSONSchemaPropsOrArray' ? schema : text
  const bool = special === 'JSONSchemaPropsOrBool'
  return {
    wire: lengthDelimited,
    zero: () => null,
    write(writer, value) {
      writer.fork()
      if (bool) writer.uint32(numberTag(1)).bool(value !== false && value !== null)
      if (Array.isArray(value)) writeAll(writer, value, element)
      else if (typeof value === 'object' && value !== null) {
        writer.uint32(bytesTag(bool ? 2 : 1))
        schema.write(writer, value)
      }
      writer.ldelim()
    },
    read(reader, limit, depth) {
      let allows = false
      let single: unknown
      const list: unknown[] = []
      const readSingle = (end: number) => (single = schema.read(reader, end, depth + 1))
      const readElement = (end: number) => list.push(element.read(reader, end, depth + 1))
      readFields(
        reader,
        limit,
        bool
          ? { [numberTag(1)]: () => (allows = readInt64(reader) !== 0), [bytesTag(2)]: readSingle }
          : { [bytesTag(1)]: readSingle, [bytesTag(2)]: readElement },
      )
      if (list.length > 0) return list
      if (single !== undefined) return single
      return bool ? allows : null
    },
  }
}

function writeAll(writer: WireWriter, list: readonly unknown[], codec: ValueCodec): void {
  for (const item of list) {
    writer.uint32(bytesTag(2))
    codec.write(writer, item)
  }
}
