import {
  bytesTag,
  newReader,
  newWriter,
  readBytes,
  readEnd,
  readTag,
  readText,
  skipValue,
  wireOf,
  withDecodeErrors,
} from './wire.ts'

/**
 * Watch events as protobuf: a message without envelope, in a length-prefixed frame. Its object is a complete body with envelope.
 */

export interface ProtobufWatchEvent {
  readonly type: string
  /** A complete protobuf body. */
  readonly object: Uint8Array
}

/**
 * Encodes one frame: the length in four bytes, big-endian, then the event.
 *
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { decode, encodeProtobuf } from '@krmkit/schema'
 * import { decodeWatchEvent, encodeWatchFrame } from '@krmkit/schema/protobuf'
 * const configMap = builtInTypes().struct('core/v1.ConfigMap')
 * const { object } = decode(configMap, { apiVersion: 'v1', kind: 'ConfigMap' })
 * const frame = encodeWatchFrame({ type: 'ADDED', object: encodeProtobuf(configMap, object) })
 * decodeWatchEvent(frame.subarray(4)).type // 'ADDED'
 */
export function encodeWatchFrame({ type, object }: ProtobufWatchEvent): Uint8Array {
  const writer = newWriter()
  writer.raw(new Uint8Array(4))
  writer.uint32(bytesTag(1)).string(type)
  writer.uint32(bytesTag(2)).fork()
  writer.uint32(bytesTag(1)).bytes(object)
  writer.ldelim()
  const frame = writer.finish()
  new DataView(frame.buffer, frame.byteOffset, frame.byteLength).setUint32(0, frame.length - 4)
  return frame
}

/**
 * Decodes an event without its length prefix.
 *
 * @throws DecodeError `Protobuf`
 * @see {@link encodeWatchFrame}
 */
export function decodeWatchEvent(bytes: Uint8Array): ProtobufWatchEvent {
  return withDecodeErrors(() => {
    const reader = newReader(bytes)
    let type = ''
    let object: Uint8Array = new Uint8Array()
    while (reader.pos < bytes.length) {
      const tag = readTag(reader, 'WatchEvent')
      if (tag === bytesTag(1)) type = readText(reader, bytes.length)
      else if (tag === bytesTag(2)) {
        const end = readEnd(reader, bytes.length)
        while (reader.pos < end) {
          const inner = readTag(reader, 'RawExtension')
          if (inner === bytesTag(1)) object = readBytes(reader, end)
          else skipValue(reader, wireOf(inner), end)
        }
      } else skipValue(reader, wireOf(tag), bytes.length)
    }
    return { type, object }
  })
}
