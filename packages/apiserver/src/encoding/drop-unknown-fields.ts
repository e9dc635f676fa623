import { isJsonObject, type JsonValue } from '@krmkit/meta'
import type { StructType, TypeNode } from '@krmkit/schema'

/**
 * Drops members that the type does not define and keeps all others as sent: the fields that an apply may own. Unlike decoding, it
 * neither adds defaults nor drops empty values.
 */
export function knownMembers(type: StructType, value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value
  if (type.custom !== undefined) return type.custom.dropUnknownFields(value)
  const known: Record<string, JsonValue> = {}
  for (const [name, member] of Object.entries(value)) {
    const field = type.field.get(name)
    if (field !== undefined) known[name] = knownIn(field.type, member)
  }
  return known
}

function knownIn(node: TypeNode, value: JsonValue): JsonValue {
  if (node.kind === 'struct') return knownMembers(node.struct(), value)
  if (node.kind === 'list') return Array.isArray(value) ? value.map((item) => knownIn(node.of, item)) : value
  if (node.kind !== 'map' || !isJsonObject(value)) return value
  if (node.of.kind === 'scalar') return value
  const members = Object.entries(value).map(([key, member]): [string, JsonValue] => [key, knownIn(node.of, member)])
  return Object.fromEntries(members)
}
