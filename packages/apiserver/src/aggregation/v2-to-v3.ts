import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'

/** Converts OpenAPI v2 to v3, for servers that publish v2 only. */

/** @returns a v3 document with the paths of `document` below the prefixes, and all its definitions. */
export function convertToV3(document: JsonObject, prefixes: readonly string[]): JsonObject {
  const parameters = objectOf(document.parameters)
  const paths: JsonObject = {}
  for (const [path, item] of entriesOf(document.paths)) {
    if (prefixes.some((prefix) => path.startsWith(prefix))) define(paths, path, pathItem(item, parameters))
  }
  const schemas: JsonObject = {}
  for (const [name, definition] of entriesOf(document.definitions)) define(schemas, name, schemaOf(definition, 0) as JsonObject)
  return { openapi: '3.0.0', info: objectOf(document.info), paths, components: { schemas } }
}

const methods = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch'])

function pathItem(item: JsonObject, shared: JsonObject): JsonObject {
  const out: JsonObject = {}
  for (const [key, value] of Object.entries(item)) {
    if (methods.has(key) && isJsonObject(value)) out[key] = operation(value, shared)
    else if (key === 'parameters') out[key] = resolveParameters(value, shared).map(parameter)
    else define(out, key, value)
  }
  return out
}

function operation(given: JsonObject, shared: JsonObject): JsonObject {
  const { consumes, parameters, produces, responses, schemes: _, ...rest } = given
  const all = resolveParameters(parameters, shared)
  const body = all.find((each) => each.in === 'body')
  const others = all.filter((each) => each.in !== 'body')
  const converted: JsonObject = {}
  for (const [status, response] of entriesOf(responses)) {
    const { schema, ...fields } = response
    define(converted, status, schema === undefined ? fields : { ...fields, content: content(produces, schema) })
  }
  return {
    ...rest,
    ...(others.length > 0 ? { parameters: others.map(parameter) } : {}),
    ...(body?.schema === undefined ? {} : { requestBody: { content: content(consumes, body.schema) } }),
    responses: converted,
  }
}

function content(types: JsonValue | undefined, schema: JsonValue): JsonObject {
  const out: JsonObject = {}
  for (const type of strings(types)) define(out, type, { schema: schemaOf(schema, 0) })
  return out
}

/** In v3, the type of a parameter is a schema. */
function parameter(given: JsonObject): JsonObject {
  const { description, in: location, name, required, ...schema } = given
  return {
    ...(name === undefined ? {} : { name }),
    ...(location === undefined ? {} : { in: location }),
    ...(description === undefined ? {} : { description }),
    ...(required === undefined ? {} : { required }),
    schema,
  }
}

const parametersPrefix = '#/parameters/'

/** The parameters, body parameters included, with references resolved. */
function resolveParameters(parameters: JsonValue | undefined, shared: JsonObject): JsonObject[] {
  if (!Array.isArray(parameters)) return []
  return parameters.filter(isJsonObject).flatMap((each) => {
    if (typeof each.$ref !== 'string') return [each]
    const name = each.$ref.startsWith(parametersPrefix) ? each.$ref.slice(parametersPrefix.length) : ''
    const found = Object.hasOwn(shared, name) ? shared[name] : undefined
    return isJsonObject(found) ? [found] : []
  })
}

const definitionsPrefix = '#/definitions/'
const maxDepth = 256

/** Rewrites references to components; a reference with siblings moves into `allOf`. */
function schemaOf(value: JsonValue, depth: number): JsonValue {
  if (depth > maxDepth) return {}
  if (Array.isArray(value)) return value.map((each) => schemaOf(each, depth + 1))
  if (!isJsonObject(value)) return value
  const out: JsonObject = {}
  for (const [key, inner] of Object.entries(value)) {
    if (key === '$ref' && typeof inner === 'string') {
      out.$ref = inner.startsWith(definitionsPrefix) ? `#/components/schemas/${inner.slice(definitionsPrefix.length)}` : inner
    } else if (key === 'properties' && isJsonObject(inner)) out.properties = membersOf(inner, depth)
    else if (key.startsWith('x-') || key === 'default' || key === 'enum' || key === 'example') define(out, key, inner)
    else define(out, key, schemaOf(inner, depth + 1))
  }
  const { $ref, ...rest } = out
  return typeof $ref === 'string' && Object.keys(rest).length > 0 ? { ...rest, allOf: [{ $ref }] } : out
}

/** Converts properties, whose names may equal keywords. */
function membersOf(properties: JsonObject, depth: number): JsonObject {
  const out: JsonObject = {}
  for (const [name, schema] of Object.entries(properties)) define(out, name, schemaOf(schema, depth + 1))
  return out
}

function strings(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

function entriesOf(value: JsonValue | undefined): [string, JsonObject][] {
  return Object.entries(objectOf(value)).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function define(target: JsonObject, name: string, value: JsonValue): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
}
