// Derived from prune.ts by `npm run direct`: do not edit.
import type { JsonObject, JsonValue } from '@krmkit/meta'
import { additionalNode, type SchemaNode } from '../schema-node.ts'
import { collect, memberPath, membersPerStep, objectMembers, type PruneOptions } from './prune.ts'

/**
 * Prunes a complete object. Keeps its `metadata`, `apiVersion` and `kind` regardless of the schema.
 *
 * @example
 * import { createSchemaNode, pruneObject } from '@krmkit/schema/structural'
 * const object = { kind: 'Widget', extra: 1 }
 * pruneObject(object, createSchemaNode({ type: 'object' }))
 * object // { kind: 'Widget' }
 */
export function pruneObject(object: JsonObject, node: SchemaNode, options: PruneOptions = {}): void {
  prune(object, node.embeddedResource ? node : { ...node, embeddedResource: true }, '', false, options)
  options.unknown?.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
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
export function pruneValue(value: JsonValue, node: SchemaNode | undefined, options: PruneOptions = {}): void {
  prune(value, node, '', false, options)
}

/**
 * @param path empty at the root, and when nothing is collected
 * @param keeps whether unspecified members are kept
 */
function prune(value: JsonValue, node: SchemaNode | undefined, path: string, keeps: boolean, options: PruneOptions): void {
  if (typeof value !== 'object' || value === null) return
  const kept = keeps || node?.preserveUnknownFields === true
  // The schema specifies no members.
  if (kept && node === undefined) return
  const { unknown } = options
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item = value[i] as JsonValue
      const at = unknown === undefined ? '' : `${path}[${i}]`
      if (typeof item === 'object') prune(item, node?.items, at, kept, options)
    }
    return
  }
  const rest = node === undefined ? undefined : additionalNode(node)
  const isObject = node?.embeddedResource === true
  const isOpen = node?.additionalProperties !== undefined
  // Preserved unspecified members are not visited.
  const few = kept && !isOpen && node !== undefined && node.properties.size < membersPerStep
  const known = few ? [...node.properties.keys()] : options.keys?.get(value)
  const keys = known ?? Object.keys(value)

  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string

    if (known !== undefined && !Object.hasOwn(value, key)) continue
    if (isObject && objectMembers.has(key)) continue
    const property = node?.properties.get(key)
    if (property !== undefined || isOpen) {
      const member = value[key] as JsonValue
      if (typeof member !== 'object') continue
      const at = unknown === undefined ? '' : memberPath(path, key)
      prune(member, property ?? rest, at, false, options)
    } else if (!kept) {
      collect(unknown, path, key)
      delete value[key]
    }
  }
}
