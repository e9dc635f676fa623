export { base64ToBytes, bytesToBase64 } from './decode/base64.ts'
export { type DecodeOptions, decode, decodeSteps, decodeUntyped, strictMessage } from './decode/decode.ts'
export { DecodedSize, jsonWeight } from './decode/decoded-size.ts'
export { applyDefaults, type DefaultsOptions, hasDefaults } from './decode/defaults.ts'
export { normalize } from './decode/normalize.ts'
export { zeroObject } from './decode/plan.ts'
export {
  decodeFailureMessage,
  missingTypeMeta,
  readTypeMeta,
  summarizeBody,
  type TypeMeta,
  unreadableTypeMeta,
} from './decode/type-meta.ts'
export {
  DecodeError,
  type DecodeErrorCode,
  type DecodeErrorLocation,
  SchemaError,
  type SchemaErrorCode,
} from './errors.ts'
export type * from './interfaces.ts'
export { copyJson } from './json/copy.ts'
export { duplicateProblems } from './json/duplicates.ts'
export { type EncodeJsonOptions, encodeJson, stringifyJson, stringifySteps } from './json/encode-json.ts'
export { JsonIndenter } from './json/indent-json.ts'
export { type ParsedJson, type ParseJsonOptions, parseJson, parseJsonInSlices, parseJsonObject } from './json/parse-json.ts'
export { type DuplicateMembers, type Member, NumberLiteral } from './json/syntax.ts'
export { type CelRuntime, cel, loadCel } from './load-cel.ts'
export {
  type ManifestDocument,
  type ManifestError,
  type ReadManifestOptions,
  type RepeatedMember,
  readManifest,
  type TextRange,
} from './manifest/index.ts'
export type {
  FieldFacts,
  GroupFacts,
  KindFacts,
  NamedFacts,
  NodeFacts,
  ProtoFacts,
  ResourceFacts,
  TypeFacts,
  VersionFacts,
} from './model/facts.ts'
export { createTypeSource, type FactsSource } from './model/type-source.ts'
export {
  type CustomSchemaOptions,
  type CustomSchemas,
  createCustomSchemas,
  createKindLookup,
  type Dialect,
  type DocumentEncoding,
  type DocumentEncodingName,
  type DocumentParts,
  definitionName,
  documentEncodings,
  type EncodedParts,
  type ExtraOperations,
  encodeOpenapiV2,
  encodeOpenapiV3,
  groupVersionParts,
  type LiteralSchema,
  type OpenApiInfo,
  type OpenApiV3Options,
  type Operation,
  openapiV2Document,
  openapiV3Document,
  openapiV3FromOperations,
  operationParts,
  type PartEntry,
  type PartsOptions,
  type PublishedGroupVersion,
  type PublishedResource,
  type PublishedSchema,
  type RootDocument,
  type RootOptions,
  rootDocuments,
  type SchemaEntry,
  v2Definition,
  v3Schema,
} from './openapi/index.ts'
export { type Envelope, hasProtobufMagic, protobufMagic, readEnvelope, writeEnvelope } from './protobuf/envelope.ts'
export { ProtobufListEncoder } from './protobuf/list-encoder.ts'
export { decodeMessage, decodeProtobuf, encodeMessage, encodeProtobuf } from './protobuf/protobuf.ts'
export { decodeWatchEvent, encodeWatchFrame, type ProtobufWatchEvent } from './protobuf/watch.ts'
export {
  applySchemaDefaults,
  type CustomTypeOptions,
  coerceEmbedded,
  coerceMetadata,
  compilePattern,
  createCustomType,
  createSchemaNode,
  createSchemaValidator,
  hasTransitionRules,
  hasValidationRules,
  type Pattern,
  type PatternProblem,
  type PruneOptions,
  pruneNulls,
  pruneObject,
  pruneValue,
  type SchemaNode,
  type SchemaValidator,
  schemaTypeName,
  validateEmbedded,
  validateEmbeddedObject,
  validateListTypes,
} from './structural/index.ts'
export { type ParsedYaml, parseYaml } from './yaml/parse-yaml.ts'
export { encodeYaml, printYaml, yamlChunks } from './yaml/print-yaml.ts'
export { type YamlAsJson, yamlToJson } from './yaml/yaml-to-json.ts'
export { createZodSchema, createZodSchemas, type ZodSchemaOptions, type ZodSchemas } from './zod/index.ts'
