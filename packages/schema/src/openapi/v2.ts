import type { JsonObject } from '@krmkit/meta'
import { refTo } from './dialect.ts'
import type { Operation } from './operations.ts'
import type { Parameter } from './parameters.ts'
import type { PartEntry } from './schemas.ts'
import { byName, has, kindObject, pathItem, reasonOf } from './v3.ts'

/** Paths and operations of Swagger 2.0 documents. */

/** Parameters that operations refer to by name. */
export function sharedParameters(operations: readonly Operation[]): PartEntry[] {
  const found = new Map<string, PartEntry>()
  for (const { parameters } of operations) {
    for (const parameter of parameters) {
      const { shared } = parameter
      if (shared === undefined || found.has(shared)) continue
      found.set(shared, { name: shared, build: () => plainParameter(parameter) })
    }
  }
  return [...found.values()]
}

export function v2PathItem(operations: readonly Operation[]): JsonObject {
  return pathItem(operations, { operation: operationObject, parameter: parameterObject })
}

function operationObject(operation: Operation, common: readonly Parameter[]): JsonObject {
  const { action, body, description, id, kind, produces, tag } = operation
  const own = operation.parameters.filter((parameter) => !has(common, parameter)).sort(byName)
  const parameters = [...(body === undefined ? [] : [bodyParameter(body)]), ...own.map(parameterObject)]
  const consumes = body?.types ?? operation.consumes ?? (action === undefined ? produces : ['*/*'])
  return {
    description,
    ...(consumes.length === 0 ? {} : { consumes: [...consumes] }),
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

function parameterObject(parameter: Parameter): JsonObject {
  return parameter.shared === undefined ? plainParameter(parameter) : { $ref: `#/parameters/${parameter.shared}` }
}

function plainParameter(parameter: Parameter): JsonObject {
  const { description, name, type } = parameter
  const required = parameter.in === 'path' ? { required: true } : {}
  return { uniqueItems: true, type, description, name, in: parameter.in, ...required }
}

function responses(operation: Operation): JsonObject {
  const found: JsonObject = {}
  for (const { status, schema } of operation.responses) {
    found[status] = {
      description: reasonOf(status),
      schema: schema === 'string' ? { type: 'string' } : { $ref: refTo(schema, 'v2') },
    }
  }
  found[401] = { description: 'Unauthorized' }
  return found
}
