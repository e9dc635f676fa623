// Derived from drop-unknown-fields.ts by `npm run direct`: do not edit.

import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import type { StructType, TypeNode } from '@krmkit/schema'

/**
 * Drops members that the type does not define and keeps all others as sent: the result has the fields that an apply may own. Unlike
 * decoding, it neither adds defaults nor drops empty values.
 */
export function knownMembers(type: StructType, value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value
  if (type.custom !== undefined) return type.custom.dropUnknownFields(value)
  const known: JsonObject = {}

  for (const name in value) {
    const field = type.field.get(name)
    if (field !== undefined) known[name] = knownIn(field.type, value[name] as JsonValue)
  }
  return known
}

function knownIn(node: TypeNode, value: JsonValue): JsonValue {
  if (node.kind === 'struct') return knownMembers(node.struct(), value)

  if (node.kind === 'list') {
    if (!Array.isArray(value)) return value
    const items: JsonValue[] = []
    for (const item of value) {
      items.push(knownIn(node.of, item))
    }
    return items
  }
  if (node.kind !== 'map' || !isJsonObject(value) || node.of.kind === 'scalar') return value
  const members: [string, JsonValue][] = []

  for (const key in value) {
    members.push([key, knownIn(node.of, value[key] as JsonValue)])
  }
  return Object.fromEntries(members)
}
