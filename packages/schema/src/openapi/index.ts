export { type CustomSchemaOptions, type CustomSchemas, createCustomSchemas } from './custom.ts'
export type { Dialect } from './dialect.ts'
export {
  type DocumentEncoding,
  type DocumentEncodingName,
  documentEncodings,
  type EncodedParts,
} from './document-encodings.ts'
export {
  type OpenApiInfo,
  type OpenApiV3Options,
  openapiV2Document,
  openapiV3Document,
  v2Definition,
  v3Schema,
} from './documents.ts'
export { encodeOpenapiV2 } from './gnostic-v2.ts'
export { encodeOpenapiV3 } from './gnostic-v3.ts'
export type { Method, Operation } from './operations.ts'
export type { Parameter } from './parameters.ts'
export {
  type DocumentParts,
  type ExtraOperations,
  type GroupVersionOptions,
  groupVersionParts,
  operationParts,
  type PartsOptions,
} from './parts.ts'
export type { PublishedGroupVersion, PublishedResource } from './resources.ts'
export { type RootDocument, type RootOptions, rootDocuments } from './roots.ts'
export {
  createKindLookup,
  type LiteralSchema,
  type PartEntry,
  type PublishedSchema,
  type SchemaEntry,
} from './schemas.ts'
