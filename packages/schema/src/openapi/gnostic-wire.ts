import type { Work } from '@krmkit/base/work'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { bytesTag, fixed64, newWriter, tagOf, varint, type WireWriter } from '../protobuf/wire.ts'
import { printYaml } from '../yaml/print-yaml.ts'

/**
 * Encoding shared by the gnostic messages: maps are lists of named values; values without a message type (enum values,
 * extensions) are YAML text.
 */

/** Returns the bytes written by `write`. */
export function encoded(write: (writer: Writer) => void): Uint8Array {
  const writer = newWriter()
  write(writer)
  return writer.finish()
}

export type Writer = WireWriter
/** Writes the content of a message, without its length. */
export type Content = (writer: Writer, value: JsonValue) => void
/** Writes a field with its tag. */
export type FieldWriter = (writer: Writer, number: number, value: JsonValue) => void

/** Key of the field number for `x-` members of a message. */
export const extensions = 'x-'

/** Field number and writer by JSON name. */
export type Message = Readonly<Record<string, readonly [number: number, write: FieldWriter]>>

export const text: FieldWriter = (writer, number, value) => {
  if (typeof value === 'string' && value !== '') writer.uint32(bytesTag(number)).string(value)
}
export const bool: FieldWriter = (writer, number, value) => {
  if (value === true) writer.uint32(tagOf(number, varint)).bool(true)
}
export const integer: FieldWriter = (writer, number, value) => {
  if (typeof value === 'number' && value !== 0) writer.uint32(tagOf(number, varint)).int64(Math.trunc(value))
}
export const double: FieldWriter = (writer, number, value) => {
  if (typeof value === 'number' && value !== 0) writer.uint32(tagOf(number, fixed64)).double(value)
}
export const yamlValue: FieldWriter = (writer, number, value) => field(writer, number, yamlContent, value)

export const yamlContent: Content = (writer, value) => text(writer, 2, printYaml(value))

/** Cache of encoded schemas inside large schemas. Schemas are immutable once built. */
const encodedSchemas = new WeakMap<object, { readonly content: Content; readonly bytes: Uint8Array }>()
/** Cache of the encoded entries of large maps of schemas, in chunks. */
const encodedMaps = new WeakMap<object, { readonly content: Content; readonly chunks: readonly Uint8Array[] }>()

/** Number of map entries encoded in one step. */
const entriesPerStep = 256

export interface SchemaContents {
  /** Writes the message of a schema. */
  readonly schema: Content
  /** Writes the value of an entry in a map of schemas. */
  readonly entry: Content
}

/**
 * Encodes the schemas inside a schema, innermost first, so that encoding the schema itself takes one short step, which
 * copies their bytes.
 *
 * @returns the objects whose encoded form is cached.
 */
export function* encodeInnerSchemas(schema: JsonObject, contents: SchemaContents): Work<readonly object[]> {
  const kept: object[] = []
  for (const keyword of ['items', 'additionalProperties', 'not', 'allOf', 'anyOf', 'oneOf']) {
    const inside = schema[keyword]
    for (const each of Array.isArray(inside) ? inside : [inside]) {
      if (isJsonObject(each)) kept.push(yield* encodeSchema(each, contents))
    }
  }
  const { properties } = schema
  if (!isJsonObject(properties)) return kept
  const names = Object.keys(properties)
  for (const name of names) {
    const property = properties[name]
    if (isJsonObject(property) && isNested(property)) kept.push(yield* encodeSchema(property, contents))
  }
  if (names.length <= entriesPerStep) return kept
  const chunks: Uint8Array[] = []
  for (let start = 0; start < names.length; start += entriesPerStep) {
    const part = Object.fromEntries(
      names.slice(start, start + entriesPerStep).map((name) => [name, properties[name] as JsonValue]),
    )
    chunks.push(encoded((writer) => writeNamed(writer, 1, part, contents.entry)))
    yield true
  }
  encodedMaps.set(properties, { content: contents.entry, chunks })
  kept.push(properties)
  return kept
}

function isNested(schema: JsonObject): boolean {
  return schema.properties !== undefined || schema.items !== undefined || schema.additionalProperties !== undefined
}

function* encodeSchema(schema: JsonObject, contents: SchemaContents): Work<JsonObject> {
  const inside = yield* encodeInnerSchemas(schema, contents)
  encodedSchemas.set(schema, { content: contents.schema, bytes: encoded((writer) => contents.schema(writer, schema)) })
  // Not cached at every level: the cache of a deep schema would take its size times its depth.
  for (const each of inside) {
    encodedSchemas.delete(each)
    encodedMaps.delete(each)
  }
  yield true
  return schema
}

export function field(writer: Writer, number: number, content: Content, value: JsonValue): void {
  const known = typeof value === 'object' && value !== null ? encodedSchemas.get(value) : undefined
  if (known?.content === content) {
    writer.uint32(bytesTag(number)).bytes(known.bytes)
    return
  }
  writer.uint32(bytesTag(number)).fork()
  content(writer, value)
  writer.ldelim()
}

export function repeated(write: FieldWriter): FieldWriter {
  return (writer, number, value) => {
    for (const element of Array.isArray(value) ? value : []) write(writer, number, element)
  }
}

/** Writes a JSON object as a message with a list of named values under field `at`. */
export function namedMap(content: Content, at = 1): FieldWriter {
  return (writer, number, value) => field(writer, number, (inside, map) => writeNamed(inside, at, map, content), value)
}

export function writeNamed(writer: Writer, number: number, map: JsonValue, content: Content): void {
  if (!isJsonObject(map)) return
  const known = encodedMaps.get(map)
  if (known?.content === content) {
    for (const chunk of known.chunks) writer.raw(chunk)
    return
  }
  for (const name of Object.keys(map)) {
    const entry: Content = (inside, value) => {
      text(inside, 1, name)
      field(inside, 2, content, value)
    }
    field(writer, number, entry, map[name] as JsonValue)
  }
}

/** Wraps a value in a message whose only field is `number`. */
export function wrap(number: number, write: FieldWriter): Content {
  return (writer, value) => write(writer, number, value)
}

function writeMessage(writer: Writer, shape: Message, value: JsonValue): void {
  if (!isJsonObject(value)) return
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
    field(inside, 2, yamlContent, value)
  }
  field(writer, at[0], entry, extension.value)
}

export const stringArray: Content = (writer, value) => repeated(text)(writer, 1, value)

export function contentField(content: Content): FieldWriter {
  return (writer, number, value) => field(writer, number, content, value)
}

export function isReference(value: JsonValue): boolean {
  return isJsonObject(value) && typeof value.$ref === 'string'
}

/** Creates writers of messages by name, and of fields that hold one. `messageOf` is called on write only. */
export function messageWriters<Name extends string>(
  messageOf: (name: Name) => Message,
): { readonly message: (name: Name) => Content; readonly inner: (name: Name) => FieldWriter } {
  const contents = new Map<Name, Content>()
  const message = (name: Name): Content => {
    const known = contents.get(name)
    if (known !== undefined) return known
    const content: Content = (writer, value) => writeMessage(writer, messageOf(name), value)
    contents.set(name, content)
    return content
  }
  const inner =
    (name: Name): FieldWriter =>
    (writer, number, value) =>
      field(writer, number, message(name), value)
  return { message, inner }
}
