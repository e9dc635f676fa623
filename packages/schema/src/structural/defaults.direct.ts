// Derived from defaults.ts by `npm run direct`: do not edit.

import { memberNames } from '@krmkit/base/work'
import { type JsonValue, setMember } from '@krmkit/meta'
import { copyJson } from '../json/copy.direct.ts'
import type { DecodedSize } from '../json/decoded-size.ts'
import { jsonWeight } from '../json/json-weight.direct.ts'
import { additionalNode, type SchemaNode } from '../schema-node.ts'
import { memberOf, membersPerStep, takesDefault } from './defaults.ts'

/**
 * Applies defaults, also inside of defaulted values. Null counts as absent where the schema does not allow it.
 *
 * @throws DecodeError `TooLarge`
 */
export function applySchemaDefaults(value: JsonValue, node: SchemaNode | undefined, size?: DecodedSize): void {
  if (node === undefined || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    const { items } = node
    if (items === undefined) return
    for (let i = 0; i < value.length; i++) {
      if (value[i] === null && !items.nullable && items.default !== undefined) value[i] = copyDefault(items.default, 0, size)
      if (items.containsDefaults) applySchemaDefaults(value[i] as JsonValue, items, size)
    }
    return
  }
  for (const [name, property] of node.properties) {
    if (property.default === undefined) continue
    if (!Object.hasOwn(value, name) || (value[name] === null && !property.nullable))
      setMember(value, name, copyDefault(property.default, name.length + 4, size))
  }
  const rest = additionalNode(node)
  const keys = rest === undefined ? [...node.properties.keys()] : Object.keys(value)
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    if (!Object.hasOwn(value, key)) continue
    const property = node.properties.get(key)
    if (property !== undefined) {
      if (property.containsDefaults) applySchemaDefaults(value[key] as JsonValue, property, size)
    } else if (rest !== undefined) {
      if (value[key] === null && !rest.nullable && rest.default !== undefined)
        setMember(value, key, copyDefault(rest.default, 0, size))
      if (rest.containsDefaults) applySchemaDefaults(value[key] as JsonValue, rest, size)
    }
  }
}

/** @param around bytes of the member besides its value. A replaced null was counted as one of the smallest values. */
function copyDefault(fallback: JsonValue, around: number, size: DecodedSize | undefined): JsonValue {
  size?.add(Math.max(0, around + jsonWeight(fallback) - 4))
  return copyJson(fallback)
}

/**
 * Removes null members where null is not allowed and no default applies.
 *
 * @param known keys of large objects; some members may have been removed
 */
export function pruneNulls(value: JsonValue, node: SchemaNode | undefined, known?: ReadonlyMap<object, readonly string[]>): void {
  if (node === undefined || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    const { items } = node
    if (items === undefined) return
    for (let i = 0; i < value.length; i++) {
      const item = value[i] as JsonValue
      if (typeof item === 'object') pruneNulls(item, items, known)
    }
    return
  }
  const rest = additionalNode(node)
  // Members without a schema are skipped.
  const few = rest === undefined && node.properties.size < membersPerStep
  const keys = few ? [...node.properties.keys()] : (known?.get(value) ?? Object.keys(value))

  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const member = Object.hasOwn(value, key) ? value[key] : undefined
    const inner = typeof member === 'object' ? (node.properties.get(key) ?? rest) : undefined
    if (inner !== undefined) {
      if (member !== null) pruneNulls(member as JsonValue, inner, known)
      else if (!inner.nullable && inner.default === undefined) delete value[key]
    }
  }
}

/** Whether `pruneNulls` would change the value; checked before the value is copied. */
export function hasPrunedNulls(value: JsonValue, node: SchemaNode | undefined): boolean {
  if (node?.containsUntyped !== true || typeof value !== 'object' || value === null) return false
  const rest = additionalNode(node)
  const keys = rest === undefined && !Array.isArray(value) ? [...node.properties.keys()] : memberNames(value)
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const member = Array.isArray(value) ? value[i] : memberOf(value, key)
    const inner = Array.isArray(value) ? node.items : (node.properties.get(key) ?? rest)
    if (inner === undefined || member === undefined) continue
    if (member !== null) {
      if (hasPrunedNulls(member, inner)) return true
    } else if (!Array.isArray(value) && !inner.nullable && inner.default === undefined) return true
  }
  return false
}

/** Whether `applySchemaDefaults` would change the value; checked before the value is copied. */
export function lacksDefaults(value: JsonValue, node: SchemaNode | undefined): boolean {
  if (node === undefined || !node.containsDefaults || typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) {
    const { items } = node
    if (items === undefined) return false
    for (let i = 0; i < value.length; i++) {
      const item = value[i] as JsonValue
      if (takesDefault(item, items) || (items.containsDefaults && lacksDefaults(item, items))) return true
    }
    return false
  }
  for (const [name, property] of node.properties) if (takesDefault(memberOf(value, name), property)) return true
  const rest = additionalNode(node)
  const keys = rest === undefined ? [...node.properties.keys()] : memberNames(value)
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const member = memberOf(value, key)
    const property = node.properties.get(key)
    if (property === undefined && rest !== undefined && takesDefault(member, rest)) return true
    const inner = property ?? rest
    if (member !== undefined && inner?.containsDefaults === true && lacksDefaults(member, inner)) return true
  }
  return false
}
