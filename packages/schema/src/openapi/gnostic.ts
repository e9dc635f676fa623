import type { JsonObject, JsonValue } from '@krmkit/meta'
import { fixed64, lengthDelimited, newWriter, varint, type WireWriter } from '../protobuf/wire.ts'

/**
 * The protobuf form of a version 2 document, which older discovery clients ask for. The messages are those of
 * `OpenAPIv2.proto` of the gnostic project; maps are lists of named values, and what has no message of its own (defaults, enum
 * values, extensions) travels as YAML text. JSON text is YAML.
 */

export function encodeOpenapiV2(document: JsonObject): Uint8Array {
  const writer = newWriter()
  message('Document')(writer, document)
  return writer.finish()
}

type Writer = WireWriter
/** Writes the content of a message, without its length. */
type Content = (writer: Writer, value: JsonValue) => void
/** Writes a field with its tag. */
type FieldWriter = (writer: Writer, number: number, value: JsonValue) => void

/** The key under which a message says where its `x-` members go. */
const extensions = 'x-'

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

/** JSON name -> field number and how it is written. */
type Message = Readonly<Record<string, readonly [number: number, write: FieldWriter]>>

const text: FieldWriter = (writer, number, value) => {
  if (typeof value === 'string' && value !== '') writer.uint32(tag(number, lengthDelimited)).string(value)
}
const bool: FieldWriter = (writer, number, value) => {
  if (value === true) writer.uint32(tag(number, varint)).bool(true)
}
const whole: FieldWriter = (writer, number, value) => {
  if (typeof value === 'number' && value !== 0) writer.uint32(tag(number, varint)).int64(Math.trunc(value))
}
const real: FieldWriter = (writer, number, value) => {
  if (typeof value === 'number' && value !== 0) writer.uint32(tag(number, fixed64)).double(value)
}
const any: FieldWriter = (writer, number, value) => field(writer, number, anyContent, value)

const anyContent: Content = (writer, value) => text(writer, 2, JSON.stringify(value))

function tag(number: number, wire: number): number {
  return (number << 3) | wire
}

function field(writer: Writer, number: number, content: Content, value: JsonValue): void {
  writer.uint32(tag(number, lengthDelimited)).fork()
  content(writer, value)
  writer.ldelim()
}

function message(name: MessageName): Content {
  return (writer, value) => writeMessage(writer, messages[name], value)
}

function inner(name: MessageName): FieldWriter {
  return (writer, number, value) => field(writer, number, message(name), value)
}

function each(write: FieldWriter): FieldWriter {
  return (writer, number, value) => {
    for (const element of Array.isArray(value) ? value : []) write(writer, number, element)
  }
}

/** A JSON object as a message with a list of named values under `number` 1, or under `at`. */
function named(content: Content, at = 1): FieldWriter {
  return (writer, number, value) => field(writer, number, (inside, map) => writeNamed(inside, at, map, content), value)
}

function writeNamed(writer: Writer, number: number, map: JsonValue, content: Content): void {
  if (!isObject(map)) return
  for (const name of Object.keys(map)) {
    const entry: Content = (inside, value) => {
      text(inside, 1, name)
      field(inside, 2, content, value)
    }
    field(writer, number, entry, map[name] as JsonValue)
  }
}

/** Wraps a value in a message whose only field, `number`, it is. */
function wrapped(number: number, write: FieldWriter): Content {
  return (writer, value) => write(writer, number, value)
}

function writeMessage(writer: Writer, shape: Message, value: JsonValue): void {
  if (!isObject(value)) return
  for (const key of Object.keys(value)) {
    const known = Object.hasOwn(shape, key) ? shape[key] : undefined
    if (known !== undefined && key !== extensions) known[1](writer, known[0], value[key] as JsonValue)
    else if (key.startsWith(extensions)) writeExtension(writer, shape, { key, value: value[key] as JsonValue })
  }
}

function writeExtension(writer: Writer, shape: Message, extension: { readonly key: string; readonly value: JsonValue }): void {
  const at = shape[extensions]
  if (at === undefined) return
  const entry: Content = (inside, value) => {
    text(inside, 1, extension.key)
    field(inside, 2, anyContent, value)
  }
  field(writer, at[0], entry, extension.value)
}

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
const stringArray: Content = (writer, value) => each(text)(writer, 1, value)

function of(content: Content): FieldWriter {
  return (writer, number, value) => field(writer, number, content, value)
}

function isReference(value: JsonValue): boolean {
  return isObject(value) && typeof value.$ref === 'string'
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What the four kinds of parameters that are no bodies share, after their own first fields. */
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
