export { type CustomSchemaOptions, type CustomSchemas, createCustomSchemas as customSchemas, definitionName } from './custom.ts'
export type { Dialect } from './dialect.ts'
export {
  type DocumentEncoding as DocumentForm,
  type DocumentEncodingName as FormName,
  documentEncodings as documentForms,
  type EncodedParts,
} from './document-encodings.ts'
export {
  type OpenApiInfo,
  type OpenApiV3Options,
  openapiV2Document,
  openapiV3Document,
  openapiV3FromOperations as openapiV3Of,
  v2Definition,
  v3Schema,
} from './documents.ts'
export { encodeOpenapiV2 } from './gnostic-v2.ts'
export { encodeOpenapiV3 } from './gnostic-v3.ts'
export type { Operation } from './operations.ts'
export {
  type DocumentParts,
  type ExtraOperations,
  groupVersionParts,
  operationParts,
  type PartsOptions,
} from './parts.ts'
export type { PublishedGroupVersion, PublishedResource } from './resources.ts'
export { type RootDocument, type RootOptions, rootDocuments } from './roots.ts'
export {
  createKindLookup as kindsFrom,
  type LiteralSchema as WrittenSchema,
  type PartEntry,
  type PublishedSchema,
  type SchemaEntry,
} from './schemas.ts'
