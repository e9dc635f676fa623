import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import type { Work } from '@krmkit/meta/work'
import { additionalNode, type SchemaNode } from './schema-node.ts'

/** Removes fields that a schema does not specify. These functions modify their argument. */

const objectMembers = new Set(['apiVersion', 'kind', 'metadata'])

/** Members of an object that pruning always keeps. */
export interface PruneOptions {
  /** Collects the paths of removed fields: `spec.list[0].member`. */
  readonly unknown?: string[]
  /** Keys of large objects in the value, which are expensive to enumerate. */
  readonly keys?: ReadonlyMap<object, readonly string[]> | undefined
}

/**
 * Prunes a complete object. Keeps its `metadata`, `apiVersion` and `kind` regardless of the schema.
 *
 * @example
 * import { createSchemaNode, pruneObject } from '@krmkit/schema/structural'
 * const object = { kind: 'Widget', extra: 1 }
 * pruneObject(object, createSchemaNode({ type: 'object' }))
 * object // { kind: 'Widget' }
 */
export function pruneObject(object: JsonObject, node: SchemaNode, { unknown }: PruneOptions = {}): void {
  const pruner = new Pruner(unknown)
  pruner.prune(object, node.embeddedResource ? node : { ...node, embeddedResource: true }, '')
  unknown?.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}

/**
 * As `pruneObject`, with pauses.
 *
 * @example
 * import { runAtOnce } from '@krmkit/meta/work'
 * import { createSchemaNode, pruneObjectSteps } from '@krmkit/schema/structural'
 * const object = { kind: 'Widget', extra: 1 }
 * runAtOnce(pruneObjectSteps(object, createSchemaNode({ type: 'object' })))
 * object // { kind: 'Widget' }
 */
export function* pruneObjectSteps(object: JsonObject, node: SchemaNode, { unknown, keys }: PruneOptions = {}): Work {
  const pruner = new Pruner(unknown, keys)
  yield* pruner.steps(object, node.embeddedResource ? node : { ...node, embeddedResource: true }, '', false)
  unknown?.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}

/**
 * Prunes a value inside of an object, such as a default.
 *
 * @example
 * import { createSchemaNode, pruneValue } from '@krmkit/schema/structural'
 * const value = { size: 1, colour: 'red' }
 * pruneValue(value, createSchemaNode({ type: 'object', properties: { size: { type: 'integer' } } }))
 * value // { size: 1 }
 * @see {@link pruneObject}
 */
export function pruneValue(value: JsonValue, node: SchemaNode | undefined, { unknown }: PruneOptions = {}): void {
  new Pruner(unknown).prune(value, node, '')
}

/**
 * As `pruneValue`, with pauses.
 *
 * @example
 * import { runAtOnce } from '@krmkit/meta/work'
 * import { createSchemaNode, pruneValueSteps } from '@krmkit/schema/structural'
 * const value = { size: 1, colour: 'red' }
 * runAtOnce(pruneValueSteps(value, createSchemaNode({ type: 'object', properties: { size: { type: 'integer' } } })))
 * value // { size: 1 }
 */
export function* pruneValueSteps(value: JsonValue, node: SchemaNode | undefined, { unknown, keys }: PruneOptions = {}): Work {
  yield* new Pruner(unknown, keys).steps(value, node, '', false)
}

/** Maximum number of collected fields before sorting. Differs: the stock server has no limit here. */
const maxUnknown = 1000

/** Members visited between two yields. */
const membersPerStep = 128

class Pruner {
  readonly #unknown: string[] | undefined
  readonly #keys: PruneOptions['keys']

  constructor(unknown: string[] | undefined, keys?: PruneOptions['keys']) {
    this.#unknown = unknown
    this.#keys = keys
  }

  prune(value: JsonValue, node: SchemaNode | undefined, path: string): void {
    if (typeof value !== 'object' || value === null) return
    const preserve = node?.preserveUnknownFields === true
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        if (preserve) this.#keep(value[i] as JsonValue, node?.items, this.#index(path, i))
        else this.prune(value[i] as JsonValue, node?.items, this.#index(path, i))
      }
      return
    }
    if (preserve) this.#keep(value, node, path)
    else this.#members(value, node, path)
  }

  #members(value: JsonObject, node: SchemaNode | undefined, path: string): void {
    for (const key of Object.keys(value)) {
      if (node?.embeddedResource === true && objectMembers.has(key)) continue
      const property = node?.properties.get(key)
      if (property !== undefined) this.prune(value[key] as JsonValue, property, this.#member(path, key))
      else if (node?.additionalProperties !== undefined && node.additionalProperties !== false)
        this.prune(value[key] as JsonValue, additionalNode(node), this.#member(path, key))
      else if (node?.additionalProperties === false) this.prune(value[key] as JsonValue, undefined, this.#member(path, key))
      else {
        if (this.#unknown !== undefined && this.#unknown.length < maxUnknown) this.#unknown.push(this.#member(path, key))
        delete value[key]
      }
    }
  }

  /** Keeps unspecified members, but prunes inside of specified ones. */
  #keep(value: JsonValue, node: SchemaNode | undefined, path: string): void {
    if (node === undefined) return
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) this.#keep(value[i] as JsonValue, node.items, this.#index(path, i))
      return
    }
    if (!isJsonObject(value)) return
    const rest = additionalNode(node)
    for (const key of Object.keys(value)) {
      if (node.embeddedResource && objectMembers.has(key)) continue
      const property = node.properties.get(key)
      if (property !== undefined) this.prune(value[key] as JsonValue, property, this.#member(path, key))
      else if (node.additionalProperties !== undefined) this.prune(value[key] as JsonValue, rest, this.#member(path, key))
    }
  }

  /** As `prune`, with pauses. @param keeps unspecified members are kept */
  *steps(value: JsonValue, node: SchemaNode | undefined, path: string, keeps: boolean): Work {
    if (typeof value !== 'object' || value === null) return
    const kept = keeps || node?.preserveUnknownFields === true
    // Nothing is specified inside.
    if (kept && node === undefined) return
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        yield* this.steps(value[i] as JsonValue, node?.items, this.#index(path, i), kept)
        if (i % membersPerStep === 0) yield
      }
      return
    }
    const rest = node === undefined ? undefined : additionalNode(node)
    const isOpen = node?.additionalProperties !== undefined
    // Unspecified members are not visited where they are kept.
    const few = kept && !isOpen && node !== undefined && node.properties.size < membersPerStep
    const keys = few ? [...node.properties.keys()] : (this.#keys?.get(value) ?? Object.keys(value))
    if (keys.length > membersPerStep) yield true
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string
      if (i % membersPerStep === 0) yield
      if (!Object.hasOwn(value, key) || (node?.embeddedResource === true && objectMembers.has(key))) continue
      const property = node?.properties.get(key)
      if (property !== undefined || isOpen) {
        yield* this.steps(value[key] as JsonValue, property ?? rest, this.#member(path, key), false)
      } else if (!kept) {
        if (this.#unknown !== undefined && this.#unknown.length < maxUnknown) this.#unknown.push(this.#member(path, key))
        delete value[key]
      }
    }
  }

  #member(path: string, key: string): string {
    if (this.#unknown === undefined) return ''
    return path === '' ? key : `${path}.${key}`
  }

  #index(path: string, index: number): string {
    return this.#unknown === undefined ? '' : `${path}[${index}]`
  }
}
