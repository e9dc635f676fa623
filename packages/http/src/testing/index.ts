/** Clients that send what no library would: bytes over HTTP/1.1, frames over HTTP/2. */
export { RawClient } from './fake-server.ts'
export {
  encodeFields,
  encodeFrame,
  flags,
  frameTypes,
  type RawAnswer,
  type RawField,
  type RawFrame,
  RawHttp2,
  requestFields,
} from './raw-http2.ts'
