// Derived from watch-frame.ts by `npm run direct`: do not edit.

import { encodeJson, encodeProtobuf } from '@krmkit/schema'
import { encodeWatchFrame } from '@krmkit/schema/protobuf'
import { cborFrame, type FrameForm, jsonFrame } from './watch-frame.ts'

/** The frame of one event. */
export function encodeFrame(type: string, object: object, { encoding, cbor, structOf }: FrameForm): Uint8Array {
  if (encoding === 'json') return jsonFrame(type, encodeJson(object))
  if (encoding === 'cbor' && cbor !== undefined) return cborFrame(cbor, type, cbor.encode(object, structOf(object)))
  return encodeWatchFrame({ type, object: encodeProtobuf(structOf(object), object) })
}
