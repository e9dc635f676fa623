import { DecodeError } from '../errors.ts'
import {
  lengthDelimited,
  newReader,
  newWriter,
  readBytes,
  readEnd,
  readGuarded,
  readTag,
  readText,
  skipValue,
  type WireReader,
  type WireWriter,
  wireOf,
} from './wire.ts'

/**
 * The envelope of every protobuf body: four magic bytes and an `Unknown` message that names the kind.
 *
 * @see API protocol specification, 2.6
 */

/** `k8s` and a zero byte. */
export const protobufMagic: readonly number[] = Object.freeze([0x6b, 0x38, 0x73, 0x00])

export interface Envelope {
  /** Empty when absent. */
  readonly apiVersion: string
  readonly kind: string
  /** The message of the object, or content of type `contentType`. */
  readonly raw: Uint8Array
  /** Empty when not encoded. */
  readonly contentEncoding: string
  /** Empty for protobuf. */
  readonly contentType: string
}

export function hasProtobufMagic(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && protobufMagic.every((byte, index) => bytes[index] === byte)
}

/**
 * Parses the envelope of a body.
 *
 * @throws DecodeError `Protobuf` for another prefix, an empty body, or a malformed message.
 */
export function readEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length === 0) throw new DecodeError('Protobuf', 'empty data')
  if (!hasProtobufMagic(bytes)) {
    throw new DecodeError(
      'Protobuf',
      `provided data does not appear to be a protobuf message, expected prefix [${protobufMagic.join(' ')}]`,
    )
  }
  if (bytes.length === 4) throw new DecodeError('Protobuf', 'empty body')
  return readGuarded(() => readUnknown(bytes.subarray(4)))
}

function readUnknown(bytes: Uint8Array): Envelope {
  const reader = newReader(bytes)
  const envelope = { apiVersion: '', kind: '', raw: new Uint8Array(), contentEncoding: '', contentType: '' }
  while (reader.pos < bytes.length) {
    const tag = readTag(reader, 'Unknown')
    if (tag === tagOf(1)) Object.assign(envelope, readTypeMeta(reader, readEnd(reader, bytes.length)))
    else if (tag === tagOf(2)) envelope.raw = readBytes(reader, bytes.length) as typeof envelope.raw
    else if (tag === tagOf(3)) envelope.contentEncoding = readText(reader, bytes.length)
    else if (tag === tagOf(4)) envelope.contentType = readText(reader, bytes.length)
    else skipValue(reader, wireOf(tag), bytes.length)
  }
  return envelope
}

function readTypeMeta(reader: WireReader, end: number): { apiVersion: string; kind: string } {
  const meta = { apiVersion: '', kind: '' }
  while (reader.pos < end) {
    const tag = readTag(reader, 'TypeMeta')
    if (tag === tagOf(1)) meta.apiVersion = readText(reader, end)
    else if (tag === tagOf(2)) meta.kind = readText(reader, end)
    else skipValue(reader, wireOf(tag), end)
  }
  return meta
}

/**
 * Writes an envelope; all four members are present, as on the stock server.
 *
 * @example
 * ```ts
 * readEnvelope(writeEnvelope({ apiVersion: 'v1', kind: 'Pod', raw: message })).kind // 'Pod'
 * ```
 */
export function writeEnvelope({
  apiVersion,
  kind,
  raw,
  contentEncoding = '',
  contentType = '',
}: Partial<Envelope> & { readonly raw: Uint8Array }): Uint8Array {
  return closeEnvelope(openEnvelope(apiVersion, kind).bytes(raw), contentEncoding, contentType)
}

/** Writes the envelope up to the length of the message. */
export function openEnvelope(apiVersion = '', kind = ''): WireWriter {
  const writer = newWriter()
  writer.raw(Uint8Array.from(protobufMagic))
  writer.uint32(tagOf(1)).fork()
  writer.uint32(tagOf(1)).string(apiVersion)
  writer.uint32(tagOf(2)).string(kind)
  return writer.ldelim().uint32(tagOf(2))
}

/** Writes the envelope after the message. */
export function closeEnvelope(writer: WireWriter, contentEncoding = '', contentType = ''): Uint8Array {
  return writer.uint32(tagOf(3)).string(contentEncoding).uint32(tagOf(4)).string(contentType).finish()
}

function tagOf(number: number): number {
  return (number << 3) | lengthDelimited
}
