import type { GroupVersionKind, JsonObject, JsonValue } from '@krmkit/meta'
import { refTo } from './dialect.ts'
import type { Operation } from './operations.ts'
import { type Parameter, sameParameter } from './parameters.ts'

/** Paths and operations of OpenAPI 3.0 documents. */

export function bearerToken(): JsonObject {
  return { type: 'apiKey', description: 'A bearer token.', name: 'authorization', in: 'header' }
}

/** Operations grouped and sorted by path. */
export function byPath(operations: readonly Operation[]): [string, Operation[]][] {
  const found = new Map<string, Operation[]>()
  for (const operation of operations) {
    const at = found.get(operation.path)
    if (at === undefined) found.set(operation.path, [operation])
    else at.push(operation)
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Parameters common to all operations of a path. */
function commonParameters(operations: readonly Operation[]): Parameter[] {
  const [first, ...others] = operations
  return (first?.parameters ?? []).filter((parameter) => others.every(({ parameters }) => has(parameters, parameter)))
}

export function has(parameters: readonly Parameter[], wanted: Parameter): boolean {
  return parameters.some((parameter) => sameParameter(parameter, wanted))
}

export function byName(a: Parameter, b: Parameter): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}

/** The path item of the operations of one path, in either dialect. */
export function pathItem(
  operations: readonly Operation[],
  write: {
    readonly operation: (operation: Operation, common: readonly Parameter[]) => JsonObject
    readonly parameter: (parameter: Parameter) => JsonObject
  },
): JsonObject {
  const common = commonParameters(operations)
  const item: JsonObject = {}
  for (const operation of operations) item[operation.method] = write.operation(operation, common)
  if (common.length > 0) item.parameters = [...common].sort(byName).map(write.parameter)
  return item
}

export function v3PathItem(operations: readonly Operation[]): JsonObject {
  return pathItem(operations, { operation: operationObject, parameter: parameterObject })
}

function operationObject(operation: Operation, common: readonly Parameter[]): JsonObject {
  const { action, body, description, id, kind, tag } = operation
  const own = operation.parameters.filter((parameter) => !has(common, parameter)).sort(byName)
  return {
    tags: [tag],
    description,
    operationId: id,
    ...(own.length > 0 ? { parameters: own.map(parameterObject) } : {}),
    ...(body === undefined ? {} : { requestBody: bodyObject(body) }),
    responses: responses(operation),
    ...(action === undefined ? {} : { 'x-kubernetes-action': action }),
    ...(kind === undefined ? {} : { 'x-kubernetes-group-version-kind': kindObject(kind) }),
  }
}

export function kindObject(kind: GroupVersionKind): JsonObject {
  return { group: kind.group, version: kind.version, kind: kind.kind }
}

function parameterObject(parameter: Parameter): JsonObject {
  const { description, name, type } = parameter
  return {
    name,
    in: parameter.in,
    description,
    ...(parameter.in === 'path' ? { required: true } : {}),
    schema: { type, uniqueItems: true },
  }
}

function bodyObject(body: NonNullable<Operation['body']>): JsonObject {
  return { content: content(body.types, body.schema), ...(body.required ? { required: true } : {}) }
}

const reasons: Readonly<Record<200 | 201 | 202, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }

export function reasonOf(status: 200 | 201 | 202): string {
  return reasons[status]
}

function responses(operation: Operation): JsonObject {
  const found: JsonObject = {}
  for (const { status, schema } of operation.responses) {
    found[status] = { description: reasonOf(status), content: content(operation.produces, schema) }
  }
  found[401] = { description: 'Unauthorized' }
  return found
}

function content(types: readonly string[], schema: string): JsonObject {
  const found: JsonObject = {}
  for (const type of types) found[type] = { schema: schemaObject(schema) }
  return found
}

function schemaObject(name: string): JsonValue {
  return name === 'string' ? { type: 'string' } : { $ref: refTo(name, 'v3') }
}
