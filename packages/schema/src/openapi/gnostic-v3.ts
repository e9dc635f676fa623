import type { Work } from '@krmkit/base/work'
import type { JsonObject } from '@krmkit/meta'
import { bytesTag, fixed64, tagOf, varint } from '../protobuf/wire.ts'
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
  writeNamed,
  yamlValue,
} from './gnostic-wire.ts'

/**
 * Encodes an OpenAPI v3 document as protobuf (`OpenAPIv3.proto`), limited to the elements that documents of this server
 * contain.
 *
 * @example
 * import { encodeOpenapiV3 } from '@krmkit/schema/openapi'
 * const bytes = encodeOpenapiV3({ openapi: '3.0.0', info: { title: 'API', version: 'v1.33.0' }, paths: {} })
 * bytes.length // 25
 */
export function encodeOpenapiV3(document: JsonObject): Uint8Array {
  return encoded((writer) => message('Document')(writer, document))
}

/** Encoders of single entries of the document's maps. */
export const entriesV3 = {
  path: (name: string, item: JsonObject) => encoded((writer) => writeNamed(writer, 1, { [name]: item }, message('PathItem'))),
  *schema(name: string, schema: JsonObject): Work<Uint8Array> {
    yield* encodeInnerSchemas(schema, { schema: message('Schema'), entry: schemaOrReference })
    return encoded((writer) => writeNamed(writer, 1, { [name]: schema }, referable('Schema')))
  },
} as const

type MessageName =
  | 'Document'
  | 'Info'
  | 'Components'
  | 'PathItem'
  | 'Operation'
  | 'Parameter'
  | 'RequestBody'
  | 'Response'
  | 'MediaType'
  | 'SecurityScheme'
  | 'Schema'
  | 'Reference'

const { message, inner } = messageWriters<MessageName>((name) => messages[name])

/** A message that holds either the value or a reference to it. */
function referable(name: MessageName): Content {
  return (writer, value) => (isReference(value) ? inner('Reference')(writer, 2, value) : inner(name)(writer, 1, value))
}

const schemaOrReference = referable('Schema')

const oneOrReference = (name: MessageName): FieldWriter => contentField(referable(name))
const content: FieldWriter = namedMap(message('MediaType'))

/**
 * Only scalar defaults can be represented; for other defaults, only their presence is encoded. Explicit zeros are written.
 */
const defaultContent: Content = (writer, value) => {
  if (typeof value === 'number') writer.uint32(tagOf(1, fixed64)).double(value)
  else if (typeof value === 'boolean') writer.uint32(tagOf(2, varint)).bool(value)
  else if (typeof value === 'string') writer.uint32(bytesTag(3)).string(value)
}

const items: FieldWriter = (writer, number, value) =>
  field(writer, number, (inside) => repeated(oneOrReference('Schema'))(inside, 1, Array.isArray(value) ? value : [value]), value)

const additionalProperties: FieldWriter = (writer, number, value) =>
  field(
    writer,
    number,
    (inside) => {
      if (typeof value === 'boolean') inside.uint32(tagOf(2, varint)).bool(value)
      else oneOrReference('Schema')(inside, 1, value)
    },
    value,
  )

const responses: FieldWriter = namedMap(referable('Response'), 2)

const messages: Readonly<Record<MessageName, Message>> = {
  Document: {
    openapi: [1, text],
    info: [2, inner('Info')],
    paths: [4, namedMap(message('PathItem'))],
    components: [5, inner('Components')],
    security: [6, repeated(namedMap(stringArray))],
    [extensions]: [9, yamlValue],
  },
  Info: { title: [1, text], description: [2, text], version: [6, text], [extensions]: [7, yamlValue] },
  Components: {
    schemas: [1, namedMap(referable('Schema'))],
    securitySchemes: [7, namedMap(referable('SecurityScheme'))],
    [extensions]: [10, yamlValue],
  },
  PathItem: {
    summary: [2, text],
    description: [3, text],
    get: [4, inner('Operation')],
    put: [5, inner('Operation')],
    post: [6, inner('Operation')],
    delete: [7, inner('Operation')],
    options: [8, inner('Operation')],
    head: [9, inner('Operation')],
    patch: [10, inner('Operation')],
    trace: [11, inner('Operation')],
    parameters: [13, repeated(oneOrReference('Parameter'))],
    [extensions]: [14, yamlValue],
  },
  Operation: {
    tags: [1, repeated(text)],
    summary: [2, text],
    description: [3, text],
    operationId: [5, text],
    parameters: [6, repeated(oneOrReference('Parameter'))],
    requestBody: [7, oneOrReference('RequestBody')],
    responses: [8, responses],
    deprecated: [10, bool],
    security: [11, repeated(namedMap(stringArray))],
    [extensions]: [13, yamlValue],
  },
  Parameter: {
    name: [1, text],
    in: [2, text],
    description: [3, text],
    required: [4, bool],
    deprecated: [5, bool],
    allowEmptyValue: [6, bool],
    style: [7, text],
    explode: [8, bool],
    allowReserved: [9, bool],
    schema: [10, oneOrReference('Schema')],
    [extensions]: [14, yamlValue],
  },
  RequestBody: { description: [1, text], content: [2, content], required: [3, bool], [extensions]: [4, yamlValue] },
  Response: { description: [1, text], content: [3, content], [extensions]: [5, yamlValue] },
  MediaType: { schema: [1, oneOrReference('Schema')], [extensions]: [5, yamlValue] },
  SecurityScheme: {
    type: [1, text],
    description: [2, text],
    name: [3, text],
    in: [4, text],
    scheme: [5, text],
    bearerFormat: [6, text],
    openIdConnectUrl: [8, text],
    [extensions]: [9, yamlValue],
  },
  Reference: { $ref: [1, text], summary: [2, text], description: [3, text] },
  Schema: {
    nullable: [1, bool],
    readOnly: [3, bool],
    writeOnly: [4, bool],
    example: [7, yamlValue],
    deprecated: [8, bool],
    title: [9, text],
    multipleOf: [10, double],
    maximum: [11, double],
    exclusiveMaximum: [12, bool],
    minimum: [13, double],
    exclusiveMinimum: [14, bool],
    maxLength: [15, integer],
    minLength: [16, integer],
    pattern: [17, text],
    maxItems: [18, integer],
    minItems: [19, integer],
    uniqueItems: [20, bool],
    maxProperties: [21, integer],
    minProperties: [22, integer],
    required: [23, repeated(text)],
    enum: [24, repeated(yamlValue)],
    type: [25, text],
    allOf: [26, repeated(oneOrReference('Schema'))],
    oneOf: [27, repeated(oneOrReference('Schema'))],
    anyOf: [28, repeated(oneOrReference('Schema'))],
    not: [29, inner('Schema')],
    items: [30, items],
    properties: [31, namedMap(schemaOrReference)],
    additionalProperties: [32, additionalProperties],
    default: [33, contentField(defaultContent)],
    description: [34, text],
    format: [35, text],
    [extensions]: [36, yamlValue],
  },
}
