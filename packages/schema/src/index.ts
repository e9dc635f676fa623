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
  type DecodeErrorLocation as DecodeErrorPlace,
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
export { type CelRuntime as Expressions, cel as expressions, loadCel as loadExpressions } from './load-cel.ts'
export {
  type ManifestDocument,
  type ManifestFault,
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
  customSchemas,
  type Dialect,
  type DocumentForm,
  type DocumentParts,
  definitionName,
  documentForms,
  type EncodedParts,
  type ExtraOperations,
  encodeOpenapiV2,
  encodeOpenapiV3,
  type FormName,
  groupVersionParts,
  kindsFrom,
  type OpenApiInfo,
  type OpenApiV3Options,
  type Operation,
  openapiV2Document,
  openapiV3Document,
  openapiV3Of,
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
  type WrittenSchema,
} from './openapi/index.ts'
export { type Envelope, hasProtobufMagic, protobufMagic, readEnvelope, writeEnvelope } from './protobuf/envelope.ts'
export { ProtobufListEncoder as ListMessage } from './protobuf/list-encoder.ts'
export { decodeMessage, decodeProtobuf, encodeMessage, encodeProtobuf } from './protobuf/protobuf.ts'
export { decodeWatchEvent, encodeWatchFrame, type ProtobufWatchEvent } from './protobuf/watch.ts'
export {
  type CustomTypeOptions,
  coerceEmbedded,
  coerceMetadata,
  compilePattern,
  customType,
  defaultValue,
  hasRules,
  hasTransitionRules,
  type Pattern,
  type PatternProblem,
  type PruneOptions,
  pruneNulls,
  pruneObject,
  pruneValue,
  type SchemaNode,
  type SchemaValidator,
  schemaNode,
  schemaValidator,
  typeName,
  validateEmbedded,
  validateEmbeddedObject,
  validateLists,
} from './structural/index.ts'
export { type ParsedYaml, parseYaml } from './yaml/parse-yaml.ts'
export { encodeYaml, printYaml, yamlChunks as yamlPieces } from './yaml/print-yaml.ts'
export { type YamlAsJson, yamlToJson } from './yaml/yaml-to-json.ts'
export { createZodSchemas, type ZodSchemaOptions, type ZodSchemas, zodSchema } from './zod/index.ts'
