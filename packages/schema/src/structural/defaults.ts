import { memberNames, type Work } from '@krmkit/base/work'
import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { copyJson } from '../json/copy.ts'
import type { DecodedSize } from '../json/decoded-size.ts'
import { jsonWeight } from '../json/json-weight.ts'
import { additionalNode, type SchemaNode } from '../schema-node.ts'

/** Defaults and null pruning by schema. These functions modify their argument. */

/**
 * Applies defaults, also inside of defaulted values. Null counts as absent where the schema does not allow it.
 *
 * @throws DecodeError `TooLarge`
 */
export function* applySchemaDefaults(value: JsonValue, node: SchemaNode | undefined, size?: DecodedSize): Work {
  if (node === undefined || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    const { items } = node
    if (items === undefined) return
    for (let i = 0; i < value.length; i++) {
      if (value[i] === null && !items.nullable && items.default !== undefined)
        value[i] = yield* copyDefault(items.default, 0, size)
      if (items.containsDefaults) yield* applySchemaDefaults(value[i] as JsonValue, items, size)
      if (i % membersPerStep === membersPerStep - 1) yield
    }
    return
  }
  for (const [name, property] of node.properties) {
    if (property.default === undefined) continue
    if (!Object.hasOwn(value, name) || (value[name] === null && !property.nullable))
      setMember(value, name, yield* copyDefault(property.default, name.length + 4, size))
  }
  const rest = additionalNode(node)
  const keys = rest === undefined ? [...node.properties.keys()] : Object.keys(value)
  for (let i = 0; i < keys.length; i++) {
    if (i % membersPerStep === membersPerStep - 1) yield true
    const key = keys[i] as string
    if (!Object.hasOwn(value, key)) continue
    const property = node.properties.get(key)
    if (property !== undefined) {
      if (property.containsDefaults) yield* applySchemaDefaults(value[key] as JsonValue, property, size)
    } else if (rest !== undefined) {
      if (value[key] === null && !rest.nullable && rest.default !== undefined)
        setMember(value, key, yield* copyDefault(rest.default, 0, size))
      if (rest.containsDefaults) yield* applySchemaDefaults(value[key] as JsonValue, rest, size)
    }
  }
}

/** @param around bytes of the member besides its value. A replaced null was counted as one of the smallest values. */
function* copyDefault(fallback: JsonValue, around: number, size: DecodedSize | undefined): Work<JsonValue> {
  size?.add(Math.max(0, around + (yield* jsonWeight(fallback)) - 4))
  return yield* copyJson(fallback)
}

/**
 * Removes null members where null is not allowed and no default applies.
 *
 * @param known keys of large objects; some members may have been removed
 */
export function* pruneNulls(
  value: JsonValue,
  node: SchemaNode | undefined,
  known?: ReadonlyMap<object, readonly string[]>,
): Work {
  if (node === undefined || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    const { items } = node
    if (items === undefined) return
    for (let i = 0; i < value.length; i++) {
      const item = value[i] as JsonValue
      if (typeof item === 'object') yield* pruneNulls(item, items, known)
      if (i % membersPerStep === 0) yield
    }
    return
  }
  const rest = additionalNode(node)
  // Members without a schema are skipped.
  const few = rest === undefined && node.properties.size < membersPerStep
  const keys = few ? [...node.properties.keys()] : (known?.get(value) ?? Object.keys(value))
  if (keys.length > membersPerStep) yield true
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const member = Object.hasOwn(value, key) ? value[key] : undefined
    const inner = typeof member === 'object' ? (node.properties.get(key) ?? rest) : undefined
    if (inner !== undefined) {
      if (member !== null) yield* pruneNulls(member as JsonValue, inner, known)
      else if (!inner.nullable && inner.default === undefined) delete value[key]
    }
    if (i % membersPerStep === 0) yield
  }
}

/** Whether `pruneNulls` would change the value; checked before the value is copied. */
export function* hasPrunedNulls(value: JsonValue, node: SchemaNode | undefined): Work<boolean> {
  if (node?.containsUntyped !== true || typeof value !== 'object' || value === null) return false
  const rest = additionalNode(node)
  const keys = rest === undefined && !Array.isArray(value) ? [...node.properties.keys()] : memberNames(value)
  for (let i = 0; i < keys.length; i++) {
    if (i % membersPerStep === membersPerStep - 1) yield true
    const key = keys[i] as string
    const member = Array.isArray(value) ? value[i] : memberOf(value, key)
    const inner = Array.isArray(value) ? node.items : (node.properties.get(key) ?? rest)
    if (inner === undefined || member === undefined) continue
    if (member !== null) {
      if (yield* hasPrunedNulls(member, inner)) return true
    } else if (!Array.isArray(value) && !inner.nullable && inner.default === undefined) return true
  }
  return false
}

/** Members visited between two pauses. */
export const membersPerStep = 128

/** Whether `applySchemaDefaults` would change the value; checked before the value is copied. */
export function* lacksDefaults(value: JsonValue, node: SchemaNode | undefined): Work<boolean> {
  if (node === undefined || !node.containsDefaults || typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) {
    const { items } = node
    if (items === undefined) return false
    for (let i = 0; i < value.length; i++) {
      const item = value[i] as JsonValue
      if (takesDefault(item, items) || (items.containsDefaults && (yield* lacksDefaults(item, items)))) return true
      if (i % membersPerStep === membersPerStep - 1) yield
    }
    return false
  }
  for (const [name, property] of node.properties) if (takesDefault(memberOf(value, name), property)) return true
  const rest = additionalNode(node)
  const keys = rest === undefined ? [...node.properties.keys()] : memberNames(value)
  for (let i = 0; i < keys.length; i++) {
    if (i % membersPerStep === membersPerStep - 1) yield true
    const key = keys[i] as string
    const member = memberOf(value, key)
    const property = node.properties.get(key)
    if (property === undefined && rest !== undefined && takesDefault(member, rest)) return true
    const inner = property ?? rest
    if (member !== undefined && inner?.containsDefaults === true && (yield* lacksDefaults(member, inner))) return true
  }
  return false
}

/** Whether the default of the schema applies to a member or an item. */
export function takesDefault(member: JsonValue | undefined, { default: fallback, nullable }: SchemaNode): boolean {
  return fallback !== undefined && (member === undefined || (member === null && !nullable))
}

export function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  return isJsonObject(object) && Object.hasOwn(object, name) ? object[name] : undefined
}
