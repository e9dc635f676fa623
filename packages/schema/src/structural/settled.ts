import { isEmptyObject, memberNames, type Work } from '@krmkit/base/work'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { decode } from '../decode/decode.direct.ts'
import type { StructType } from '../interfaces.ts'
import { stringifyJson } from '../json/encode-json.direct.ts'
import { inOrder } from '../json/shape.ts'
import { DecodeError } from '../schema-error.ts'
import { additionalNode, type SchemaNode } from '../schema-node.ts'
import { sortedValue } from './sorted.direct.ts'

/**
 * Checks whether a stored object is already in the form that reading by its schema produces. Most are, and are returned
 * without a copy.
 */

type Container = JsonValue[] | JsonObject

interface Part {
  readonly value: Container
  readonly node: SchemaNode | undefined
  /** Whether unspecified members are kept. */
  readonly keeps: boolean
}

/** Members of the root object to which the schema does not apply. */
const rootMembers: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

/** Whether coercion of metadata, pruning, removal of nulls, defaulting and sorting leave an object unchanged. `false` when undecided. */
export function* isSettled(object: JsonObject, schema: SchemaNode, objectMeta: StructType): Work<boolean> {
  yield true
  if (!isSettledMetadata(object.metadata, objectMeta)) return false
  yield true
  const check = new SettledCheck(object, schema)
  for (;;) {
    const settled = check.run(membersPerStep)
    if (settled !== undefined) return settled
    yield true
  }
}

/** Whether metadata with sorted members has the form in which it is stored. */
export function isSettledMetadata(metadata: JsonValue | undefined, type: StructType): boolean {
  if (!isJsonObject(metadata) || (metadata.generation ?? 0) === 0) return false
  const { labels, annotations, managedFields, ...rest } = metadata
  if (!isTextMap(labels) || !isTextMap(annotations)) return false
  const owners: JsonObject[] = []
  if (managedFields !== undefined) {
    if (!Array.isArray(managedFields)) return false
    for (const owner of managedFields) {
      if (!isJsonObject(owner)) return false
      const { fieldsV1, ...entry } = owner
      if (fieldsV1 !== undefined && !isJsonObject(fieldsV1)) return false
      owners.push(entry)
    }
  }
  const small = managedFields === undefined ? rest : { ...rest, managedFields: owners }
  try {
    const { creationTimestamp, ...decoded } = decode<JsonObject>(type, small, { collect: false }).object
    const stored = creationTimestamp === null ? decoded : { ...decoded, creationTimestamp }
    return stringifyJson(sortedValue(stored as JsonObject)) === stringifyJson(sortedValue(small))
  } catch (error) {
    if (error instanceof DecodeError) return false
    throw error
  }
}

/** Whether a map of texts is absent, or has members that are all texts. */
function isTextMap(map: JsonValue | undefined): boolean {
  if (map === undefined) return true
  return isJsonObject(map) && !isEmptyObject(map) && Object.values(map).every((text) => typeof text === 'string')
}

/** Members visited between two pauses. */
export const membersPerStep = 512

export class SettledCheck {
  readonly #parts: Part[] = []
  #part: Part | undefined
  #keys: readonly string[] | undefined
  #next = 0
  #isRoot = true
  /** Whether the object contains embedded resources, which have further rules. */
  readonly #undecided: boolean

  constructor(object: JsonObject, schema: SchemaNode) {
    this.#undecided = schema.containsEmbedded || schema.properties.get('metadata')?.containsDefaults === true
    this.#parts.push({ value: object, node: schema, keeps: schema.preserveUnknownFields })
  }

  /** Visits up to `limit` members. @returns `undefined` when members remain. */
  run(limit: number): boolean | undefined {
    if (this.#undecided) return false
    for (let left = limit; left > 0; ) {
      if (this.#part === undefined) {
        const part = this.#parts.pop()
        if (part === undefined) return true
        if (!this.#open(part)) return false
        // Collecting the keys of a wide object is a separate step.
        if (this.#keys !== undefined && this.#keys.length > limit) return undefined
      }
      const part = this.#part as unknown as Part
      const count = this.#keys?.length ?? (part.value as JsonValue[]).length
      const end = Math.min(count, this.#next + left)
      left -= Math.max(1, end - this.#next)
      for (; this.#next < end; this.#next++) {
        if (!(this.#keys === undefined ? this.#item(part, this.#next) : this.#member(part, this.#keys, this.#next))) return false
      }
      if (this.#next === count) {
        this.#part = undefined
        this.#isRoot = false
      }
    }
    return undefined
  }

  /** @returns false when the value lacks a default. */
  #open(part: Part): boolean {
    const { value, node } = part
    this.#part = part
    this.#keys = Array.isArray(value) ? undefined : memberNames(value)
    this.#next = 0
    if (this.#keys === undefined || node?.containsDefaults !== true) return true
    for (const [name, property] of node.properties) {
      if (property.default !== undefined && !Object.hasOwn(value, name)) return false
    }
    return true
  }

  #item({ value, node, keeps }: Part, index: number): boolean {
    const item = (value as JsonValue[])[index] as JsonValue
    const items = node?.items
    if (item === null) return items === undefined || items.nullable || items.default === undefined
    if (typeof item === 'object') this.#push(item, items, keeps)
    return item !== undefined
  }

  #member({ value, node, keeps }: Part, keys: readonly string[], index: number): boolean {
    const key = keys[index] as string
    if (index > 0 && !inOrder(keys[index - 1] as string, key)) return false
    const member = (value as JsonObject)[key] as JsonValue
    if (member === undefined) return false
    if (this.#isRoot && rootMembers.has(key)) {
      if (typeof member === 'object' && member !== null) this.#push(member, undefined, true)
      return true
    }
    const property = node?.properties.get(key)
    const rest = node === undefined ? undefined : additionalNode(node)
    const of = property ?? rest
    if (member === null && of !== undefined && !of.nullable) return false
    const isSpecified = property !== undefined || (node?.additionalProperties ?? undefined) !== undefined
    if (!isSpecified && !keeps) return false
    if (typeof member === 'object' && member !== null) this.#push(member, of, isSpecified ? false : keeps)
    return true
  }

  #push(value: Container, node: SchemaNode | undefined, keeps: boolean): void {
    this.#parts.push({ value, node, keeps: keeps || node?.preserveUnknownFields === true })
  }
}
