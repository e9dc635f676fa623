import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { memberNames, type Work } from '@krmkit/meta/work'
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

/** As `knownMembers`, for large values: a generator that can be interrupted at each yield. */
export function* knownMembersSteps(type: StructType, value: JsonValue): Work<JsonValue> {
  if (!isJsonObject(value)) return value
  if (type.custom !== undefined) return yield* type.custom.paced.dropUnknownFields(value)
  const known: JsonObject = {}
  let count = 0
  for (const name of memberNames(value)) {
    const field = type.field.get(name)
    if (field !== undefined) known[name] = yield* knownInSteps(field.type, value[name] as JsonValue)
    if (++count % membersPerStep === 0) yield
  }
  return known
}

/** Members and items visited between two yields. */
const membersPerStep = 128

function* knownInSteps(node: TypeNode, value: JsonValue): Work<JsonValue> {
  if (node.kind === 'struct') return yield* knownMembersSteps(node.struct(), value)
  let count = 0
  if (node.kind === 'list') {
    if (!Array.isArray(value)) return value
    const items: JsonValue[] = []
    for (const item of value) {
      items.push(yield* knownInSteps(node.of, item))
      if (++count % membersPerStep === 0) yield
    }
    return items
  }
  if (node.kind !== 'map' || !isJsonObject(value) || node.of.kind === 'scalar') return value
  const members: [string, JsonValue][] = []
  for (const key of memberNames(value)) {
    members.push([key, yield* knownInSteps(node.of, value[key] as JsonValue)])
    if (++count % membersPerStep === 0) yield
  }
  return Object.fromEntries(members)
}
