export { type Envelope, hasProtobufMagic, protobufMagic, readEnvelope, writeEnvelope } from './envelope.ts'
export { ProtobufListEncoder } from './list-encoder.ts'
export {
  decodeMessage,
  decodeProtobuf,
  decodeProtobufSteps,
  encodeMessage,
  encodeProtobuf,
  type ProtobufOptions,
} from './protobuf.ts'
export { decodeWatchEvent, encodeWatchFrame, type ProtobufWatchEvent } from './watch.ts'
