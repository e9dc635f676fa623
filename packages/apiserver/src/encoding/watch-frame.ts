import { concatBytes } from '@krmkit/base/bytes'
import type { Work } from '@krmkit/base/work'
import { encodeProtobuf, type StructType } from '@krmkit/schema'
import type { CborCodec } from '@krmkit/schema/cbor'
import { encodeJson } from '@krmkit/schema/paced'
import { encodeWatchFrame } from '@krmkit/schema/protobuf'
import type { Encoding } from '../media/negotiation.ts'

/** How a watch encodes its events. */
export interface FrameForm {
  readonly encoding: Encoding
  readonly cbor: CborCodec | undefined
  readonly structOf: (object: object) => StructType
}

/** The frame of one event. */
export function* encodeFrame(type: string, object: object, { encoding, cbor, structOf }: FrameForm): Work<Uint8Array> {
  if (encoding === 'json') return jsonFrame(type, yield* encodeJson(object))
  if (encoding === 'cbor' && cbor !== undefined) return cborFrame(cbor, type, yield* cbor.paced.encode(object, structOf(object)))
  return encodeWatchFrame({ type, object: encodeProtobuf(structOf(object), object) })
}

const frameEnd = new TextEncoder().encode('}\n')
const heads = new Map<string, Uint8Array>(
  ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'].map((type) => [
    type,
    new TextEncoder().encode(`{"type":"${type}","object":`),
  ]),
)

/** The frame of an event whose object is already encoded. */
export function jsonFrame(type: string, document: Uint8Array): Uint8Array {
  const bare = document[document.byteLength - 1] === 0x0a ? document.subarray(0, document.byteLength - 1) : document
  return concatBytes([heads.get(type) as Uint8Array, bare, frameEnd])
}

/** `{type, object}`; the object is a document with its own tag. */
export function cborFrame(cbor: CborCodec, type: string, document: Uint8Array): Uint8Array {
  const member = (name: string) => cbor.encodeBare(name)
  const head = [Uint8Array.of(0xd9, 0xd9, 0xf7, 0xa2), member('type'), member(type), member('object')]
  return concatBytes([...head, document])
}
