import type { GroupVersionKind, JsonObject } from '@krmkit/meta'
import type { StructType } from '../interfaces.ts'
import { refTo } from './dialect.ts'
import { type Operation, operationsOf } from './operations.ts'
import type { Parameter } from './parameters.ts'
import { collectMeta, metaNames, type PublishedGroupVersion, targetsOf } from './resources.ts'
import { type PublishedSchema, SchemaCollector } from './schemas.ts'
import { define, typeSchema } from './type-schema.ts'
import { bearerToken, byName, byPath, commonParameters, has, kindObject, type OpenApiV3Options, reasonOf } from './v3.ts'

/** The document of Swagger 2.0: all group versions together. */

/** The schema of one type, as a definition. */
export function v2Definition(type: StructType, kindsOf?: (type: StructType) => readonly GroupVersionKind[]): JsonObject {
  return typeSchema(type, 'v2', kindsOf === undefined ? {} : { kindsOf })
}

/** Operations that belong to no group version, with the schemas they name. */
export interface ExtraOperations {
  readonly operations: readonly Operation[]
  readonly schemas: readonly PublishedSchema[]
}

export function openapiV2Document(
  published: readonly PublishedGroupVersion[],
  options: OpenApiV3Options & { readonly extra?: ExtraOperations },
): JsonObject {
  const schemas = new SchemaCollector('v2', options.kindsOf)
  const names = { meta: metaNames(options.source), profile: options.profile }
  const operations = published.flatMap((each) => operationsOf(each, targetsOf(each.resources, schemas), names))
  collectMeta(options.source, operations, schemas)
  for (const schema of options.extra?.schemas ?? []) schemas.add(schema)
  const shared = new Map<string, Parameter>()
  const paths: JsonObject = {}
  for (const [path, found] of byPath([...operations, ...(options.extra?.operations ?? [])])) {
    define(paths, path, pathItem(found, shared))
  }
  return {
    swagger: '2.0',
    info: { title: options.info.title, version: options.info.version },
    paths,
    definitions: schemas.all(),
    parameters: sharedParameters(shared),
    securityDefinitions: { BearerToken: bearerToken() },
    security: [{ BearerToken: [] }],
  }
}

function sharedParameters(shared: ReadonlyMap<string, Parameter>): JsonObject {
  const found: JsonObject = {}
  for (const name of [...shared.keys()].sort()) found[name] = plainParameter(shared.get(name) as Parameter)
  return found
}

function pathItem(operations: readonly Operation[], shared: Map<string, Parameter>): JsonObject {
  const common = commonParameters(operations)
  const item: JsonObject = {}
  for (const operation of operations) item[operation.method] = operationObject(operation, common, shared)
  if (common.length > 0) item.parameters = [...common].sort(byName).map((parameter) => parameterObject(parameter, shared))
  return item
}

function operationObject(operation: Operation, common: readonly Parameter[], shared: Map<string, Parameter>): JsonObject {
  const { action, body, description, id, kind, produces, tag } = operation
  const own = operation.parameters.filter((parameter) => !has(common, parameter)).sort(byName)
  const parameters = [
    ...(body === undefined ? [] : [bodyParameter(body)]),
    ...own.map((parameter) => parameterObject(parameter, shared)),
  ]
  return {
    description,
    consumes: [...(body?.types ?? (action === undefined ? produces : ['*/*']))],
    produces: [...produces],
    schemes: ['https'],
    tags: [tag],
    operationId: id,
    ...(parameters.length > 0 ? { parameters } : {}),
    responses: responses(operation),
    ...(action === undefined ? {} : { 'x-kubernetes-action': action }),
    ...(kind === undefined ? {} : { 'x-kubernetes-group-version-kind': kindObject(kind) }),
  }
}

function bodyParameter(body: NonNullable<Operation['body']>): JsonObject {
  return { name: 'body', in: 'body', ...(body.required ? { required: true } : {}), schema: { $ref: refTo(body.schema, 'v2') } }
}

function parameterObject(parameter: Parameter, shared: Map<string, Parameter>): JsonObject {
  if (parameter.shared === undefined) return plainParameter(parameter)
  shared.set(parameter.shared, parameter)
  return { $ref: `#/parameters/${parameter.shared}` }
}

function plainParameter(parameter: Parameter): JsonObject {
  const { description, name, type } = parameter
  const required = parameter.in === 'path' ? { required: true } : {}
  return { uniqueItems: true, type, description, name, in: parameter.in, ...required }
}

function responses(operation: Operation): JsonObject {
  const found: JsonObject = {}
  for (const { status, schema } of operation.answers) {
    found[status] = {
      description: reasonOf(status),
      schema: schema === 'string' ? { type: 'string' } : { $ref: refTo(schema, 'v2') },
    }
  }
  found[401] = { description: 'Unauthorized' }
  return found
}
