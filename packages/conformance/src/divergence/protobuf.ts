import { decode, encodeJson } from '@krmkit/schema'
import { decodeProtobuf, encodeMessage, hasProtobufMagic, readEnvelope, writeEnvelope } from '@krmkit/schema/protobuf'
import type { ProtobufBody } from './scenario.ts'
import { typeOf } from './types.ts'

/** The bytes of an object that is sent as protobuf, with the damage that the body asks for. */
export function protobufBytes({ object, envelope, append, truncate, flip }: ProtobufBody): Uint8Array {
  const { apiVersion = '', kind = '' } = object as { apiVersion?: string; kind?: string }
  const type = typeOf(apiVersion, kind)
  if (type === undefined) throw new Error(`${apiVersion} ${kind} has no type`)
  const isJson = envelope?.contentType === 'application/json'
  const message = isJson ? encodeJson(object) : encodeMessage(type, decode(type, object).object)
  const kept = Buffer.from(message).subarray(0, Math.max(0, message.byteLength - (truncate ?? 0)))
  const raw = Buffer.concat([kept, Buffer.from(append ?? '', 'base64')])
  const bytes = Buffer.from(writeEnvelope({ apiVersion, kind, contentEncoding: '', contentType: '', ...envelope, raw }))
  if (flip !== undefined) bytes[flip % bytes.length] = (bytes[flip % bytes.length] ?? 0) ^ 0xff
  return bytes
}

/** An object that was received as protobuf; `undefined` for other bodies and unknown kinds. */
export function protobufObject(bytes: Uint8Array): object | undefined {
  if (!hasProtobufMagic(bytes)) return undefined
  const envelope = readEnvelope(bytes)
  const type = typeOf(envelope.apiVersion, envelope.kind)
  return type === undefined ? undefined : decodeProtobuf(type, envelope).object
}
