/** Clients that send raw bytes over HTTP/1.1 and raw frames over HTTP/2. */
export { RawClient } from './fake-server.ts'
export {
  encodeFields,
  encodeFrame,
  flags,
  frameTypes,
  type RawField,
  type RawFrame,
  RawHttp2,
  type RawResponse as RawAnswer,
  requestFields,
} from './raw-http2.ts'
