import type { JsonObject, JsonValue } from '@krmkit/meta'
import { fixed64, lengthDelimited, newWriter, varint, type WireWriter } from '../protobuf/wire.ts'
import { printYaml } from '../yaml/print-yaml.ts'

/**
 * Common encoding of the gnostic messages: maps are lists of named values; values without a message (enum values, extensions) are
 * YAML text.
 */

/** The bytes written by `write`. */
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
  if (typeof value === 'string' && value !== '') writer.uint32(tag(number, lengthDelimited)).string(value)
}
export const bool: FieldWriter = (writer, number, value) => {
  if (value === true) writer.uint32(tag(number, varint)).bool(true)
}
export const whole: FieldWriter = (writer, number, value) => {
  if (typeof value === 'number' && value !== 0) writer.uint32(tag(number, varint)).int64(Math.trunc(value))
}
export const real: FieldWriter = (writer, number, value) => {
  if (typeof value === 'number' && value !== 0) writer.uint32(tag(number, fixed64)).double(value)
}
export const any: FieldWriter = (writer, number, value) => field(writer, number, anyContent, value)

export const anyContent: Content = (writer, value) => text(writer, 2, printYaml(value))

export function tag(number: number, wire: number): number {
  return (number << 3) | wire
}

export function field(writer: Writer, number: number, content: Content, value: JsonValue): void {
  writer.uint32(tag(number, lengthDelimited)).fork()
  content(writer, value)
  writer.ldelim()
}

export function each(write: FieldWriter): FieldWriter {
  return (writer, number, value) => {
    for (const element of Array.isArray(value) ? value : []) write(writer, number, element)
  }
}

/** Writes a JSON object as a message with a list of named values under field `at`. */
export function named(content: Content, at = 1): FieldWriter {
  return (writer, number, value) => field(writer, number, (inside, map) => writeNamed(inside, at, map, content), value)
}

export function writeNamed(writer: Writer, number: number, map: JsonValue, content: Content): void {
  if (!isObject(map)) return
  for (const name of Object.keys(map)) {
    const entry: Content = (inside, value) => {
      text(inside, 1, name)
      field(inside, 2, content, value)
    }
    field(writer, number, entry, map[name] as JsonValue)
  }
}

/** Wraps a value in a message whose only field is `number`. */
export function wrapped(number: number, write: FieldWriter): Content {
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

export const stringArray: Content = (writer, value) => each(text)(writer, 1, value)

export function of(content: Content): FieldWriter {
  return (writer, number, value) => field(writer, number, content, value)
}

export function isReference(value: JsonValue): boolean {
  return isObject(value) && typeof value.$ref === 'string'
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Creates writers of messages by name, and of fields that hold one. `messageOf` is called on write only. */
export function messageWriters<Name extends string>(
  messageOf: (name: Name) => Message,
): { readonly message: (name: Name) => Content; readonly inner: (name: Name) => FieldWriter } {
  const message =
    (name: Name): Content =>
    (writer, value) =>
      writeMessage(writer, messageOf(name), value)
  const inner =
    (name: Name): FieldWriter =>
    (writer, number, value) =>
      field(writer, number, message(name), value)
  return { message, inner }
}
