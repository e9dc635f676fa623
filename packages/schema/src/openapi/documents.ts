import { runAtOnce } from '@krmkit/base/work'
import type { GroupVersionKind, JsonObject, NamingProfile } from '@krmkit/meta'
import type { StructType, TypeSource } from '../interfaces.ts'
import type { Operation } from './operations.ts'
import { buildMembers, type DocumentParts, type ExtraOperations, groupVersionParts, operationParts } from './parts.ts'
import type { PublishedGroupVersion } from './resources.ts'
import type { PublishedSchema } from './schemas.ts'
import { typeSchema } from './type-schema.ts'
import { bearerToken } from './v3.ts'

/**
 * Whole documents as objects: OpenAPI 3.0 has one self-contained document per group version, Swagger 2.0 has one document
 * for all.
 */

export interface OpenApiInfo {
  readonly title: string
  /** Server version, such as `v1.33.4`. */
  readonly version: string
}

export interface OpenApiV3Options {
  readonly source: TypeSource
  readonly info: OpenApiInfo
  /** Domain names in media types and ids. Default: the names of Kubernetes. */
  readonly profile?: NamingProfile
  /** Kinds of root types. @see {@link createKindLookup} */
  readonly kindsOf: (type: StructType) => readonly GroupVersionKind[]
}

/**
 * The OpenAPI v3 component schema of one type.
 *
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { v3Schema } from '@krmkit/schema/openapi'
 * const schema = v3Schema(builtInTypes().struct('core/v1.LocalObjectReference'))
 * Object.keys(schema) // [ 'description', 'properties', 'type', 'x-kubernetes-map-type' ]
 */
export function v3Schema(type: StructType, kindsOf?: (type: StructType) => readonly GroupVersionKind[]): JsonObject {
  return typeSchema(type, 'v3', kindsOf === undefined ? {} : { kindsOf })
}

/**
 * The Swagger 2.0 definition of one type.
 *
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { v2Definition } from '@krmkit/schema/openapi'
 * const definition = v2Definition(builtInTypes().struct('core/v1.LocalObjectReference'))
 * Object.keys(definition) // [ 'description', 'properties', 'type', 'x-kubernetes-map-type' ]
 * @see {@link v3Schema}
 */
export function v2Definition(type: StructType, kindsOf?: (type: StructType) => readonly GroupVersionKind[]): JsonObject {
  return typeSchema(type, 'v2', kindsOf === undefined ? {} : { kindsOf })
}

/**
 * The OpenAPI v3 document of a group version.
 *
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { createKindLookup, openapiV3Document, type PublishedResource } from '@krmkit/schema/openapi'
 * const source = builtInTypes()
 * const pods: PublishedResource = {
 *   name: 'pods',
 *   namespaced: true,
 *   kind: { group: '', version: 'v1', kind: 'Pod' },
 *   verbs: ['get'],
 *   body: source.struct('core/v1.Pod'),
 * }
 * const options = { source, info: { title: 'API', version: 'v1.33.0' }, kindsOf: createKindLookup(source) }
 * const { paths } = openapiV3Document({ group: '', version: 'v1', resources: [pods] }, options)
 * Object.keys(paths as object) // [ '/api/v1/', '/api/v1/namespaces/{namespace}/pods/{name}' ]
 */
export function openapiV3Document(published: PublishedGroupVersion, options: OpenApiV3Options): JsonObject {
  return v3Document(runAtOnce(groupVersionParts(published, { ...options, dialect: 'v3' })), options.info)
}

/** An OpenAPI v3 document of the given operations and their schemas. */
export function openapiV3FromOperations(
  operations: readonly Operation[],
  schemas: readonly PublishedSchema[],
  options: Omit<OpenApiV3Options, 'source'>,
): JsonObject {
  return v3Document(runAtOnce(operationParts({ operations, schemas }, { kindsOf: options.kindsOf, dialect: 'v3' })), options.info)
}

function v3Document(parts: DocumentParts, info: OpenApiInfo): JsonObject {
  return {
    openapi: '3.0.0',
    info: { title: info.title, version: info.version },
    paths: buildMembers(parts.paths),
    components: { schemas: buildMembers(parts.schemas), securitySchemes: { BearerToken: bearerToken() } },
  }
}

/**
 * The Swagger 2.0 document of several group versions.
 *
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { createKindLookup, openapiV2Document } from '@krmkit/schema/openapi'
 * const source = builtInTypes()
 * const core = { group: '', version: 'v1', resources: [] }
 * const options = { source, info: { title: 'API', version: 'v1.33.0' }, kindsOf: createKindLookup(source) }
 * openapiV2Document([core], options).swagger // '2.0'
 * @see {@link openapiV3Document}
 */
export function openapiV2Document(
  published: readonly PublishedGroupVersion[],
  options: OpenApiV3Options & { readonly extra?: ExtraOperations },
): JsonObject {
  const rooted = { ...options, dialect: 'v2' } as const
  const parts = published.map((each) => runAtOnce(groupVersionParts(each, rooted)))
  if (options.extra !== undefined) parts.push(runAtOnce(operationParts(options.extra, rooted)))
  return {
    swagger: '2.0',
    info: { title: options.info.title, version: options.info.version },
    paths: buildMembers(parts.flatMap(({ paths }) => paths)),
    definitions: buildMembers(parts.flatMap(({ schemas }) => schemas)),
    parameters: buildMembers(parts.flatMap(({ parameters }) => parameters)),
    securityDefinitions: { BearerToken: bearerToken() },
    security: [{ BearerToken: [] }],
  }
}
