export type { CelEngine } from './cel/engine.ts'
export { base64ToBytes, bytesToBase64 } from './decode/base64.ts'
export { type DecodeOptions, decode, decodeSteps, decodeUntyped, strictMessage } from './decode/decode.ts'
export { DecodedSize, jsonWeight } from './decode/decoded-size.ts'
export { applyDefaults, type DefaultsOptions } from './decode/defaults.ts'
export { normalize } from './decode/normalize.ts'
export { decodeFailureMessage, missingTypeMeta, readTypeMeta, type TypeMeta, unreadableTypeMeta } from './decode/type-meta.ts'
export { DecodeError, type DecodeErrorCode, type DecodeErrorLocation, SchemaError, type SchemaErrorCode } from './errors.ts'
export type {
  CustomCodec,
  Decoded,
  Field,
  ListNode,
  ListType,
  MapNode,
  MapType,
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
export { copyJson } from './json/copy.ts'
export { duplicateProblems } from './json/duplicates.ts'
export { type EncodeJsonOptions, encodeJson, stringifyJson, stringifySteps } from './json/encode-json.ts'
export { JsonIndenter } from './json/indent-json.ts'
export { type ParsedJson, type ParseJsonOptions, parseJson, parseJsonInSlices } from './json/parse-json.ts'
export type { DuplicateMembers, Member } from './json/syntax.ts'
export { type CelRuntime, cel, loadCel } from './load-cel.ts'
export { type ManifestDocument, readManifest, type TextRange } from './manifest/index.ts'
export type { GroupFacts } from './model/facts.ts'
export { createTypeSource, type FactsSource } from './model/type-source.ts'
export {
  createCustomSchemas,
  createKindLookup,
  type Dialect,
  type DocumentEncoding,
  type DocumentEncodingName,
  type DocumentParts,
  documentEncodings,
  encodeOpenapiV3,
  groupVersionParts,
  type OpenApiInfo,
  operationParts,
  type PartEntry,
  type PublishedGroupVersion,
  type PublishedResource,
  type RootDocument,
  rootDocuments,
} from './openapi/index.ts'
export { type Envelope, hasProtobufMagic, protobufMagic, readEnvelope, writeEnvelope } from './protobuf/envelope.ts'
export { ProtobufListEncoder } from './protobuf/list-encoder.ts'
export { decodeMessage, decodeProtobuf, encodeMessage, encodeProtobuf, type ProtobufOptions } from './protobuf/protobuf.ts'
export { decodeWatchEvent, encodeWatchFrame } from './protobuf/watch.ts'
export {
  type CustomTypeOptions,
  coerceEmbedded,
  compilePattern,
  createCustomType,
  createSchemaNode,
  createSchemaValidator,
  hasTransitionRules,
  hasValidationRules,
  pruneObject,
  pruneValue,
  type SchemaNode,
  type SchemaValidator,
  validateEmbedded,
  validateListTypes,
} from './structural/index.ts'
export { type ParsedYaml, parseYaml } from './yaml/parse-yaml.ts'
export { encodeYaml, printYaml, yamlChunks } from './yaml/print-yaml.ts'
export { type YamlAsJson, yamlToJson } from './yaml/yaml-to-json.ts'
export { createZodSchema, type ZodSchemaOptions } from './zod/index.ts'
