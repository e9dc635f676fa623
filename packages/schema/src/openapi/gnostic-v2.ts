import type { JsonObject } from '@krmkit/meta'
import { varint } from '../protobuf/wire.ts'
import {
  any,
  bool,
  type Content,
  each,
  encoded,
  extensions,
  type FieldWriter,
  field,
  isObject,
  isReference,
  type Message,
  messageWriters,
  named,
  of,
  real,
  stringArray,
  tag,
  text,
  whole,
  wrapped,
  writeNamed,
} from './gnostic-wire.ts'

/** Encodes an OpenAPI v2 document as protobuf (`OpenAPIv2.proto`), which older discovery clients request. */

export function encodeOpenapiV2(document: JsonObject): Uint8Array {
  return encoded((writer) => message('Document')(writer, document))
}

/** Encoders of single entries of the document's maps. */
export const entriesV2 = {
  path: (name: string, item: JsonObject) => encoded((writer) => writeNamed(writer, 2, { [name]: item }, message('PathItem'))),
  schema: (name: string, schema: JsonObject) => encoded((writer) => writeNamed(writer, 1, { [name]: schema }, message('Schema'))),
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
  if (!isObject(value)) return
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
  writer.uint32(tag(2, varint)).bool(value)
}

const typeItem: Content = (writer, value) => (Array.isArray(value) ? each(text)(writer, 1, value) : text(writer, 1, value))
const itemsItem: Content = (writer, value) => (Array.isArray(value) ? each(inner('Schema')) : inner('Schema'))(writer, 1, value)
/** The common fields of parameters other than bodies, numbered from `first`. */
function parameterShape(first: number): Message {
  const members: readonly (readonly [string, FieldWriter])[] = [
    ['type', text],
    ['format', text],
    ['items', inner('Items')],
    ['collectionFormat', text],
    ['default', any],
    ['maximum', real],
    ['exclusiveMaximum', bool],
    ['minimum', real],
    ['exclusiveMinimum', bool],
    ['maxLength', whole],
    ['minLength', whole],
    ['pattern', text],
    ['maxItems', whole],
    ['minItems', whole],
    ['uniqueItems', bool],
    ['enum', each(any)],
    ['multipleOf', real],
    [extensions, any],
  ]
  return Object.fromEntries(members.map(([name, write], index) => [name, [first + index, write] as const]))
}

const messages: Readonly<Record<MessageName, Message>> = {
  Document: {
    swagger: [1, text],
    info: [2, inner('Info')],
    host: [3, text],
    basePath: [4, text],
    schemes: [5, each(text)],
    consumes: [6, each(text)],
    produces: [7, each(text)],
    paths: [8, named(message('PathItem'), 2)],
    definitions: [9, named(message('Schema'))],
    parameters: [10, named(parameterContent)],
    responses: [11, named(message('Response'))],
    security: [12, each(named(stringArray))],
    securityDefinitions: [13, named(wrapped(2, inner('ApiKeySecurity')))],
    [extensions]: [16, any],
  },
  Info: { title: [1, text], version: [2, text], description: [3, text], termsOfService: [4, text], [extensions]: [7, any] },
  PathItem: {
    $ref: [1, text],
    get: [2, inner('Operation')],
    put: [3, inner('Operation')],
    post: [4, inner('Operation')],
    delete: [5, inner('Operation')],
    options: [6, inner('Operation')],
    head: [7, inner('Operation')],
    patch: [8, inner('Operation')],
    parameters: [9, each(parametersItem)],
    [extensions]: [10, any],
  },
  Operation: {
    tags: [1, each(text)],
    summary: [2, text],
    description: [3, text],
    operationId: [5, text],
    produces: [6, each(text)],
    consumes: [7, each(text)],
    parameters: [8, each(parametersItem)],
    responses: [9, named(responseValue)],
    schemes: [10, each(text)],
    deprecated: [11, bool],
    security: [12, each(named(stringArray))],
    [extensions]: [13, any],
  },
  BodyParameter: {
    description: [1, text],
    name: [2, text],
    in: [3, text],
    required: [4, bool],
    schema: [5, inner('Schema')],
    [extensions]: [6, any],
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
  Response: { description: [1, text], schema: [2, of(wrapped(1, inner('Schema')))], [extensions]: [5, any] },
  ApiKeySecurity: { type: [1, text], name: [2, text], in: [3, text], description: [4, text], [extensions]: [5, any] },
  Schema: {
    $ref: [1, text],
    format: [2, text],
    title: [3, text],
    description: [4, text],
    default: [5, any],
    multipleOf: [6, real],
    maximum: [7, real],
    exclusiveMaximum: [8, bool],
    minimum: [9, real],
    exclusiveMinimum: [10, bool],
    maxLength: [11, whole],
    minLength: [12, whole],
    pattern: [13, text],
    maxItems: [14, whole],
    minItems: [15, whole],
    uniqueItems: [16, bool],
    maxProperties: [17, whole],
    minProperties: [18, whole],
    required: [19, each(text)],
    enum: [20, each(any)],
    additionalProperties: [21, of(additionalProperties)],
    type: [22, of(typeItem)],
    items: [23, of(itemsItem)],
    allOf: [24, each(inner('Schema'))],
    properties: [25, named(message('Schema'))],
    discriminator: [26, text],
    readOnly: [27, bool],
    example: [30, any],
    [extensions]: [31, any],
  },
}
