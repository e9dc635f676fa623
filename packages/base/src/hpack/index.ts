/**
 * Header compression of HTTP/2 (HPACK) for servers and clients that read header blocks themselves. A separate entry point,
 * `@krmkit/base/hpack`, because it needs the Buffer of Node.
 */

export { type HeaderFieldSink, HpackDecoder, type HpackDecoderOptions } from './decoder.ts'
export { encodeFields, type RawField } from './encode-fields.ts'
export type { HeaderField } from './header-field.ts'
