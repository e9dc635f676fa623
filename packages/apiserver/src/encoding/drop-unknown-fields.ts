import { memberNames, type Work } from '@krmkit/base/work'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import type { StructType, TypeNode } from '@krmkit/schema'

/**
 * Drops members that the type does not define and keeps all others as sent: the result has the fields that an apply may own. Unlike
 * decoding, it neither adds defaults nor drops empty values.
 */
export function* knownMembers(type: StructType, value: JsonValue): Work<JsonValue> {
  if (!isJsonObject(value)) return value
  if (type.custom !== undefined) return yield* type.custom.paced.dropUnknownFields(value)
  const known: JsonObject = {}
  let count = 0
  const names = memberNames(value)
  for (const name of names) {
    const field = type.field.get(name)
    if (field !== undefined) known[name] = yield* knownIn(field.type, value[name] as JsonValue)
    if (++count % membersPerStep === 0) yield
  }
  return known
}

/** Number of members and items visited between two yields. */
const membersPerStep = 128

function* knownIn(node: TypeNode, value: JsonValue): Work<JsonValue> {
  if (node.kind === 'struct') return yield* knownMembers(node.struct(), value)
  let count = 0
  if (node.kind === 'list') {
    if (!Array.isArray(value)) return value
    const items: JsonValue[] = []
    for (const item of value) {
      items.push(yield* knownIn(node.of, item))
      if (++count % membersPerStep === 0) yield
    }
    return items
  }
  if (node.kind !== 'map' || !isJsonObject(value) || node.of.kind === 'scalar') return value
  const members: [string, JsonValue][] = []
  const keys = memberNames(value)
  for (const key of keys) {
    members.push([key, yield* knownIn(node.of, value[key] as JsonValue)])
    if (++count % membersPerStep === 0) yield
  }
  return Object.fromEntries(members)
}
