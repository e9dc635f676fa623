import { DecodeError } from '../schema-error.ts'
import {
  bytesTag,
  newReader,
  newWriter,
  readBytes,
  readEnd,
  readTag,
  readText,
  skipValue,
  type WireReader,
  type WireWriter,
  wireOf,
  withDecodeErrors,
} from './wire.ts'

/**
 * The envelope of every protobuf body: four magic bytes and an `Unknown` message that names the kind.
 *
 * @see API protocol specification, 2.6
 */

/** `k8s` and a zero byte. */
export const protobufMagic: readonly number[] = Object.freeze([0x6b, 0x38, 0x73, 0x00])
const magicBytes = Uint8Array.from(protobufMagic)

/** Content of an envelope. */
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

/**
 * Whether a body starts with the protobuf prefix.
 *
 * @see {@link writeEnvelope}
 */
export function hasProtobufMagic(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && protobufMagic.every((byte, index) => bytes[index] === byte)
}

/**
 * Parses the envelope of a body.
 *
 * @throws DecodeError `Protobuf` for another prefix, an empty body, or a malformed message.
 * @see {@link writeEnvelope}
 */
export function readEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length === 0) throw new DecodeError({ code: 'Protobuf', message: 'empty data' })
  if (!hasProtobufMagic(bytes)) {
    throw new DecodeError({
      code: 'Protobuf',
      message: `provided data does not appear to be a protobuf message, expected prefix [${protobufMagic.join(' ')}]`,
    })
  }
  if (bytes.length === 4) throw new DecodeError({ code: 'Protobuf', message: 'empty body' })
  return withDecodeErrors(() => readUnknown(bytes.subarray(4)))
}

function readUnknown(bytes: Uint8Array): Envelope {
  const reader = newReader(bytes)
  const envelope = { apiVersion: '', kind: '', raw: new Uint8Array(), contentEncoding: '', contentType: '' }
  while (reader.pos < bytes.length) {
    const tag = readTag(reader, 'Unknown')
    if (tag === bytesTag(1)) Object.assign(envelope, readTypeMeta(reader, readEnd(reader, bytes.length)))
    else if (tag === bytesTag(2)) envelope.raw = readBytes(reader, bytes.length) as typeof envelope.raw
    else if (tag === bytesTag(3)) envelope.contentEncoding = readText(reader, bytes.length)
    else if (tag === bytesTag(4)) envelope.contentType = readText(reader, bytes.length)
    else skipValue(reader, wireOf(tag), bytes.length)
  }
  return envelope
}

function readTypeMeta(reader: WireReader, end: number): { apiVersion: string; kind: string } {
  const meta = { apiVersion: '', kind: '' }
  while (reader.pos < end) {
    const tag = readTag(reader, 'TypeMeta')
    if (tag === bytesTag(1)) meta.apiVersion = readText(reader, end)
    else if (tag === bytesTag(2)) meta.kind = readText(reader, end)
    else skipValue(reader, wireOf(tag), end)
  }
  return meta
}

/**
 * Writes an envelope; all four members are present, as on kube-apiserver.
 *
 * @example
 * import { readEnvelope } from '@krmkit/schema'
 * import { hasProtobufMagic, writeEnvelope } from '@krmkit/schema/protobuf'
 * const raw = Uint8Array.of(10, 0)
 * const body = writeEnvelope({ apiVersion: 'v1', kind: 'Pod', raw })
 * hasProtobufMagic(body) // true
 * readEnvelope(body).kind // 'Pod'
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
  writer.raw(magicBytes)
  writer.uint32(bytesTag(1)).fork()
  writer.uint32(bytesTag(1)).string(apiVersion)
  writer.uint32(bytesTag(2)).string(kind)
  return writer.ldelim().uint32(bytesTag(2))
}

/** Writes the envelope after the message. */
export function closeEnvelope(writer: WireWriter, contentEncoding = '', contentType = ''): Uint8Array {
  return writer.uint32(bytesTag(3)).string(contentEncoding).uint32(bytesTag(4)).string(contentType).finish()
}
