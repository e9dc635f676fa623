export type { CelEngine } from './cel/engine.ts'
export { type DecodeOptions, decode, decodeUntyped, strictMessage } from './decode/decode.ts'
export { DecodedSize } from './decode/decoded-size.ts'
export { applyDefaults, type DefaultsOptions } from './decode/defaults.ts'
export { normalize } from './decode/normalize.ts'
export { DecodeError, type DecodeErrorCode, type DecodeErrorFields, SchemaError, type SchemaErrorCode } from './errors.ts'
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
export { type EncodeJsonOptions, encodeJson, stringifyJson } from './json/encode-json.ts'
export { type ParsedJson, type ParseJsonOptions, parseJson } from './json/parse-json.ts'
export type { DuplicateMembers, Member } from './json/syntax.ts'
export { type CelRuntime, cel, loadCel } from './load-cel.ts'
export { createTypeSource, type FactsSource } from './model/type-source.ts'
export { type Envelope, readEnvelope } from './protobuf/envelope.ts'
export { decodeProtobuf, encodeProtobuf, type ProtobufOptions } from './protobuf/protobuf.ts'
export { type CustomTypeOptions, createCustomType } from './structural/index.ts'
export { type ParsedYaml, parseYaml } from './yaml/parse-yaml.ts'
export { printYaml } from './yaml/print-yaml.ts'
