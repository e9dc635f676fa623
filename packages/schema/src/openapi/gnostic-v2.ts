import type { Work } from '@krmkit/base/work'
import { isJsonObject, type JsonObject } from '@krmkit/meta'
import { tagOf, varint } from '../protobuf/wire.ts'
import {
  bool,
  type Content,
  contentField,
  double,
  encoded,
  encodeInnerSchemas,
  extensions,
  type FieldWriter,
  field,
  integer,
  isReference,
  type Message,
  messageWriters,
  namedMap,
  repeated,
  stringArray,
  text,
  wrap,
  writeNamed,
  yamlValue,
} from './gnostic-wire.ts'

/**
 * Encodes an OpenAPI v2 document as protobuf (`OpenAPIv2.proto`), which older discovery clients request.
 *
 * @example
 * import { encodeOpenapiV2 } from '@krmkit/schema/openapi'
 * const bytes = encodeOpenapiV2({ swagger: '2.0', info: { title: 'API', version: 'v1.33.0' }, paths: {} })
 * bytes.length // 23
 * @see {@link encodeOpenapiV3}
 */
export function encodeOpenapiV2(document: JsonObject): Uint8Array {
  return encoded((writer) => message('Document')(writer, document))
}

/** Encoders of single entries of the document's maps. */
export const entriesV2 = {
  path: (name: string, item: JsonObject) => encoded((writer) => writeNamed(writer, 2, { [name]: item }, message('PathItem'))),
  *schema(name: string, schema: JsonObject): Work<Uint8Array> {
    yield* encodeInnerSchemas(schema, { schema: message('Schema'), entry: message('Schema') })
    return encoded((writer) => writeNamed(writer, 1, { [name]: schema }, message('Schema')))
  },
  parameter: (name: string, parameter: JsonObject) =>
    encoded((writer) => writeNamed(writer, 1, { [name]: parameter }, parameterContent)),
} as const

type MessageName =
  | 'Document'
  | 'Info'
  | 'PathItem'
  | 'Operation'
  | 'BodyParameter'
  | 'QueryParameter'
  | 'PathParameter'
  | 'Items'
  | 'JsonReference'
  | 'Response'
  | 'ApiKeySecurity'
  | 'Schema'

const { message, inner } = messageWriters<MessageName>((name) => messages[name])

const responseValue: Content = (writer, value) =>
  isReference(value) ? inner('JsonReference')(writer, 2, value) : inner('Response')(writer, 1, value)

const parameterContent: Content = (writer, value) => {
  if (!isJsonObject(value)) return
  if (value.in === 'body') return inner('BodyParameter')(writer, 1, value)
  const [number, shape] = value.in === 'path' ? ([4, 'PathParameter'] as const) : ([3, 'QueryParameter'] as const)
  field(writer, 2, (inside, parameter) => inner(shape)(inside, number, parameter), value)
}

const parametersItem: FieldWriter = (writer, number, value) => {
  const content: Content = (inside, item) =>
    isReference(item) ? inner('JsonReference')(inside, 2, item) : field(inside, 1, parameterContent, item)
  field(writer, number, content, value)
}

const additionalProperties: Content = (writer, value) => {
  if (typeof value !== 'boolean') return inner('Schema')(writer, 1, value)
  writer.uint32(tagOf(2, varint)).bool(value)
}

const typeItem: Content = (writer, value) => (Array.isArray(value) ? repeated(text)(writer, 1, value) : text(writer, 1, value))
const itemsItem: Content = (writer, value) =>
  (Array.isArray(value) ? repeated(inner('Schema')) : inner('Schema'))(writer, 1, value)
/** The common fields of parameters other than bodies, numbered from `first`. */
function parameterShape(first: number): Message {
  const members: readonly (readonly [string, FieldWriter])[] = [
    ['type', text],
    ['format', text],
    ['items', inner('Items')],
    ['collectionFormat', text],
    ['default', yamlValue],
    ['maximum', double],
    ['exclusiveMaximum', bool],
    ['minimum', double],
    ['exclusiveMinimum', bool],
    ['maxLength', integer],
    ['minLength', integer],
    ['pattern', text],
    ['maxItems', integer],
    ['minItems', integer],
    ['uniqueItems', bool],
    ['enum', repeated(yamlValue)],
    ['multipleOf', double],
    [extensions, yamlValue],
  ]
  return Object.fromEntries(members.map(([name, write], index) => [name, [first + index, write] as const]))
}

const messages: Readonly<Record<MessageName, Message>> = {
  Document: {
    swagger: [1, text],
    info: [2, inner('Info')],
    host: [3, text],
    basePath: [4, text],
    schemes: [5, repeated(text)],
    consumes: [6, repeated(text)],
    produces: [7, repeated(text)],
    paths: [8, namedMap(message('PathItem'), 2)],
    definitions: [9, namedMap(message('Schema'))],
    parameters: [10, namedMap(parameterContent)],
    responses: [11, namedMap(message('Response'))],
    security: [12, repeated(namedMap(stringArray))],
    securityDefinitions: [13, namedMap(wrap(2, inner('ApiKeySecurity')))],
    [extensions]: [16, yamlValue],
  },
  Info: { title: [1, text], version: [2, text], description: [3, text], termsOfService: [4, text], [extensions]: [7, yamlValue] },
  PathItem: {
    $ref: [1, text],
    get: [2, inner('Operation')],
    put: [3, inner('Operation')],
    post: [4, inner('Operation')],
    delete: [5, inner('Operation')],
    options: [6, inner('Operation')],
    head: [7, inner('Operation')],
    patch: [8, inner('Operation')],
    parameters: [9, repeated(parametersItem)],
    [extensions]: [10, yamlValue],
  },
  Operation: {
    tags: [1, repeated(text)],
    summary: [2, text],
    description: [3, text],
    operationId: [5, text],
    produces: [6, repeated(text)],
    consumes: [7, repeated(text)],
    parameters: [8, repeated(parametersItem)],
    responses: [9, namedMap(responseValue)],
    schemes: [10, repeated(text)],
    deprecated: [11, bool],
    security: [12, repeated(namedMap(stringArray))],
    [extensions]: [13, yamlValue],
  },
  BodyParameter: {
    description: [1, text],
    name: [2, text],
    in: [3, text],
    required: [4, bool],
    schema: [5, inner('Schema')],
    [extensions]: [6, yamlValue],
  },
  QueryParameter: {
    required: [1, bool],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    allowEmptyValue: [5, bool],
    ...parameterShape(6),
  },
  PathParameter: { required: [1, bool], in: [2, text], description: [3, text], name: [4, text], ...parameterShape(5) },
  Items: parameterShape(1),
  JsonReference: { $ref: [1, text], description: [2, text] },
  Response: { description: [1, text], schema: [2, contentField(wrap(1, inner('Schema')))], [extensions]: [5, yamlValue] },
  ApiKeySecurity: { type: [1, text], name: [2, text], in: [3, text], description: [4, text], [extensions]: [5, yamlValue] },
  Schema: {
    $ref: [1, text],
    format: [2, text],
    title: [3, text],
    description: [4, text],
    default: [5, yamlValue],
    multipleOf: [6, double],
    maximum: [7, double],
    exclusiveMaximum: [8, bool],
    minimum: [9, double],
    exclusiveMinimum: [10, bool],
    maxLength: [11, integer],
    minLength: [12, integer],
    pattern: [13, text],
    maxItems: [14, integer],
    minItems: [15, integer],
    uniqueItems: [16, bool],
    maxProperties: [17, integer],
    minProperties: [18, integer],
    required: [19, repeated(text)],
    enum: [20, repeated(yamlValue)],
    additionalProperties: [21, contentField(additionalProperties)],
    type: [22, contentField(typeItem)],
    items: [23, contentField(itemsItem)],
    allOf: [24, repeated(inner('Schema'))],
    properties: [25, namedMap(message('Schema'))],
    discriminator: [26, text],
    readOnly: [27, bool],
    example: [30, yamlValue],
    [extensions]: [31, yamlValue],
  },
}
