export { decode, decodeUntyped } from './decode/decode.direct.ts'
export { type DecodeOptions, strictMessage } from './decode/decode.ts'
export { applyDefaults } from './decode/defaults.direct.ts'
export type { DefaultsOptions } from './decode/defaults.ts'
export { normalize } from './decode/normalize.direct.ts'
export type {
  CustomCodec,
  Decoded,
  Field,
  ListNode,
  ListType,
  MapNode,
  MapType,
  PacedCustomCodec,
  ProtoField,
  ProtoMember,
  Scalar,
  ScalarNode,
  SpecialName,
  SpecialNode,
  StrictProblems,
  StructNode,
  StructType,
  TypeNode,
  TypeSource,
} from './interfaces.ts'
export { DecodedSize } from './json/decoded-size.ts'
export { encodeJson, stringifyJson } from './json/encode-json.direct.ts'
export type { EncodeJsonOptions } from './json/encode-json.ts'
export { parseJson } from './json/parse-json.direct.ts'
export type { ParsedJson, ParseJsonOptions } from './json/parse-json.ts'
export type { DuplicateMembers, Member } from './json/syntax.ts'
export { type CelRuntime, cel, loadCel } from './load-cel.ts'
export { createTypeSource, type FactsSource } from './model/type-source.ts'
export { type Envelope, readEnvelope } from './protobuf/envelope.ts'
export { decodeProtobuf } from './protobuf/protobuf.direct.ts'
export { encodeProtobuf, type ProtobufOptions } from './protobuf/protobuf.ts'
export type { CelEngine } from './rules/engine.ts'
export { DecodeError, type DecodeErrorCode, type DecodeErrorFields, SchemaError, type SchemaErrorCode } from './schema-error.ts'
export { type CustomTypeOptions, createCustomType } from './structural/index.ts'
export { type ParsedYaml, parseYaml } from './yaml/parse-yaml.ts'
export { printYaml } from './yaml/print-yaml.ts'
