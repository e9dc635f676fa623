import type { JsonObject, JsonValue } from '@krmkit/meta'
import { inOrder, sortKeys } from '../decode/shape.ts'
import { setMember } from '../json/syntax.ts'

/** The value with the members of every object sorted by name; the same value when they already are. */
export function sortedValue(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    let changed: JsonValue[] | undefined
    for (let i = 0; i < value.length; i++) {
      const item = value[i] as JsonValue
      const sorted = sortedValue(item)
      if (changed !== undefined) changed.push(sorted)
      else if (sorted !== item) changed = [...value.slice(0, i), sorted]
    }
    return changed ?? value
  }
  // Most values are sorted: members are collected only from the first unsorted one.
  let members: JsonValue[] | undefined
  let previous: string | undefined
  let count = 0
  for (const key in value) {
    const member = value[key]
    const sorted = typeof member === 'object' ? sortedValue(member) : (member ?? null)
    const same = sorted === member && (previous === undefined || inOrder(previous, key))
    if (!same) members ??= Object.values(value).slice(0, count) as JsonValue[]
    members?.push(sorted)
    previous = key
    count++
  }
  return members === undefined ? value : rebuilt(value, Object.keys(value), members)
}

/** Omits undefined members. */
function rebuilt(value: JsonObject, keys: readonly string[], members: readonly JsonValue[]): JsonObject {
  const indexes = new Map(keys.map((key, index) => [key, index]))
  const sorted: JsonObject = {}
  for (const key of sortKeys([...keys])) {
    if (value[key] !== undefined) setMember(sorted, key, members[indexes.get(key) as number] as JsonValue)
  }
  return sorted
}
