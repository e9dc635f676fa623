/**
 * Protobuf messages described by tables of field numbers, for small protocols. A separate entry point,
 * `@krmkit/base/protobuf`, because it needs the Buffer of Node. Objects of the API have their own codec in `@krmkit/schema`.
 */

export { type FieldType, type MessageField, MessageType, type ScalarType } from './message-type.ts'
