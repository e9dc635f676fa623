import protobuf from 'protobufjs/minimal.js'
import { type DecodedSize, unlimitedSize } from '../json/decoded-size.ts'
import { decodeLoosely } from '../json/utf8.ts'
import { DecodeError } from '../schema-error.ts'

/** The protobuf wire format. The only module that uses the protobuf library. Errors carry the messages of Go's generated code. */

export type WireWriter = protobuf.Writer

export interface WireReader extends protobuf.Reader {
  /** Counts the decoded object. */
  decodedSize: DecodedSize
}

export const varint = 0
export const fixed64 = 1
export const lengthDelimited = 2
const startGroup = 3
const endGroup = 4
const fixed32 = 5

export function newWriter(): WireWriter {
  return protobuf.Writer.create()
}

export function newReader(bytes: Uint8Array, size: DecodedSize = unlimitedSize()): WireReader {
  const reader = protobuf.Reader.create(bytes) as WireReader
  reader.decodedSize = size
  return reader
}

/** Runs a decoder and converts errors of the library to `DecodeError`. */
export function withDecodeErrors<V>(read: () => V): V {
  try {
    return read()
  } catch (error) {
    throw toDecodeError(error)
  }
}

/** Errors of the library become `DecodeError`. */
export function toDecodeError(error: unknown): unknown {
  if (!(error instanceof RangeError)) return error
  return error.message.includes('call stack')
    ? new DecodeError({ code: 'Depth', message: 'exceeded max depth' })
    : new DecodeError({ code: 'Protobuf', message: 'unexpected EOF' })
}

/** Reads a length prefix and returns the end offset. */
export function readEnd(reader: WireReader, limit: number): number {
  const length = readLength(reader)
  const end = reader.pos + length
  if (end > limit) throw new DecodeError({ code: 'Protobuf', message: 'unexpected EOF' })
  return end
}

/** Returns the length of the next length-delimited value without consuming it; 0 when it exceeds the limit. */
export function peekLength(reader: WireReader, limit: number): number {
  const start = reader.pos
  const length = readLength(reader)
  const end = reader.pos + length
  reader.pos = start
  return end > limit ? 0 : length
}

function readLength(reader: WireReader): number {
  const length = readInt64(reader)
  if (typeof length === 'bigint' || length < 0)
    throw new DecodeError({ code: 'Protobuf', message: 'proto: negative length found during unmarshaling' })
  return length
}

export function readBytes(reader: WireReader, limit: number): Uint8Array {
  const end = readEnd(reader, limit)
  const bytes = reader.buf.subarray(reader.pos, end)
  reader.pos = end
  return bytes
}

/** Reads text. Each invalid byte of UTF-8 becomes U+FFFD, as Go prints it. */
export function readText(reader: WireReader, limit: number): string {
  const end = readEnd(reader, limit)
  const start = reader.pos
  reader.pos = end
  if (end - start > 24) return decodeLoosely(reader.buf.subarray(start, end))
  let short = ''
  for (let i = start; i < end; i++) {
    const byte = reader.buf[i] as number
    if (byte >= 0x80) return decodeLoosely(reader.buf.subarray(start, end))
    short += String.fromCharCode(byte)
  }
  return short
}

/** Reads a 64-bit integer: a number where exact, otherwise a bigint. */
export function readInt64(reader: WireReader): number | bigint {
  const first = reader.buf[reader.pos]
  if (first !== undefined && first < 0x80 && reader.pos < reader.len) {
    reader.pos++
    return first
  }
  let low = 0
  let high = 0
  for (let i = 0; i < 10; i++) {
    if (reader.pos >= reader.len) throw new DecodeError({ code: 'Protobuf', message: 'unexpected EOF' })
    const byte = reader.buf[reader.pos++] as number
    const bits = byte & 0x7f
    if (i < 4) low |= bits << (7 * i)
    else if (i === 4) {
      low |= bits << 28
      high |= bits >> 4
    } else high |= bits << (7 * i - 32)
    if (byte < 0x80) return fromHalves(low >>> 0, high | 0)
  }
  throw new DecodeError({ code: 'Protobuf', message: 'proto: integer overflow' })
}

function fromHalves(low: number, high: number): number | bigint {
  const value = high * 0x1_0000_0000 + low
  return Number.isSafeInteger(value) ? value : (BigInt(high) << 32n) | BigInt(low)
}

/** The lower 32 bits, signed, as Go reads an int32. */
export function readInt32(reader: WireReader): number {
  const value = readInt64(reader)
  return typeof value === 'bigint' ? Number(BigInt.asIntN(32, value)) : value | 0
}

export function writeInt64(writer: WireWriter, value: number | bigint): void {
  if (typeof value === 'number') {
    if (value >= 0 && value < 0x8000_0000) writer.uint32(value)
    else writer.int64(value)
    return
  }
  const low = Number(BigInt.asIntN(32, value))
  const high = Number(BigInt.asIntN(32, value >> 32n))
  writer.int64({ low, high, unsigned: false } as protobuf.Long)
}

/** Reads a tag (field number and wire type). `name` is the message name for errors. */
export function readTag(reader: WireReader, name: string): number {
  const raw = readInt64(reader)
  const tag = typeof raw === 'number' ? raw % 0x1_0000_0000 : Number(BigInt.asIntN(35, raw) % 0x1_0000_0000n)
  const wire = wireOf(tag)
  if (wire === endGroup) throw new DecodeError({ code: 'Protobuf', message: `proto: ${name}: wiretype end group for non-group` })
  if (tag < 8)
    throw new DecodeError({ code: 'Protobuf', message: `proto: ${name}: illegal tag ${Math.floor(tag / 8)} (wire type ${wire})` })
  return tag
}

/** Tag of a field: its number and wire type. */
export function tagOf(number: number, wire: number): number {
  return ((number << 3) | wire) >>> 0
}

/** Tag of a length-delimited field. */
export function bytesTag(number: number): number {
  return tagOf(number, lengthDelimited)
}

export function wireOf(tag: number): number {
  return ((tag % 8) + 8) % 8
}

/** Skips the value of an unknown field, including groups, without recursion. */
export function skipValue(reader: WireReader, wire: number, limit: number): void {
  let depth = 0
  let next = wire
  for (;;) {
    if (next === varint) readInt64(reader)
    else if (next === fixed64) advance(reader, 8, limit)
    else if (next === lengthDelimited) reader.pos = readEnd(reader, limit)
    else if (next === fixed32) advance(reader, 4, limit)
    else if (next === startGroup) depth++
    else if (next === endGroup) {
      if (depth === 0) throw new DecodeError({ code: 'Protobuf', message: 'proto: unexpected end of group' })
      depth--
    } else throw new DecodeError({ code: 'Protobuf', message: `proto: illegal wireType ${next}` })
    if (reader.pos > limit) throw new DecodeError({ code: 'Protobuf', message: 'unexpected EOF' })
    if (depth === 0) return
    if (reader.pos >= limit) throw new DecodeError({ code: 'Protobuf', message: 'unexpected EOF' })
    next = wireOf(Number(BigInt.asUintN(3, BigInt(readInt64(reader)))))
  }
}

function advance(reader: WireReader, size: number, limit: number): void {
  if (reader.pos + size > limit) throw new DecodeError({ code: 'Protobuf', message: 'unexpected EOF' })
  reader.pos += size
}

/** Reads a small message. `fields` maps tags to readers; other fields are skipped. */
export function readFields(reader: WireReader, limit: number, fields: Readonly<Record<number, (end: number) => unknown>>): void {
  const end = readEnd(reader, limit)
  while (reader.pos < end) {
    const tag = readTag(reader, 'message')
    const read = fields[tag]
    if (read === undefined) skipValue(reader, wireOf(tag), end)
    else read(end)
    if (reader.pos > end) throw new DecodeError({ code: 'Protobuf', message: 'unexpected EOF' })
  }
}

export function expectWire(wire: number, expected: number, name: string): void {
  if (wire === expected) return
  throw new DecodeError({
    code: 'Protobuf',
    message: `proto: wrong wireType = ${wire} for field ${name.charAt(0).toUpperCase()}${name.slice(1)}`,
  })
}
