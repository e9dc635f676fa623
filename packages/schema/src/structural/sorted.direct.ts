// Derived from sorted.ts by `npm run direct`: do not edit.

import { memberNames } from '@krmkit/base/work'
import { type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { sortKeys } from '../json/shape.direct.ts'
import { inOrder } from '../json/shape.ts'
import { remember, type SortedMembers, type SortOptions } from './sorted.ts'

/** Sorts the members of every object by name; returns the same value when they are already sorted. */
export function sortedValue(value: JsonValue, options: SortOptions = {}): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return sortedItems(value, options)
  const known = options.keys?.get(value)
  const keys = known === undefined ? memberNames(value) : presentKeys(value, known)

  // Most values are sorted, so members are collected only once an unsorted one is found.
  let members: JsonValue[] | undefined
  for (let i = 0; i < keys.length; i++) {
    const member = value[keys[i] as string]
    const sorted = typeof member === 'object' && member !== null ? sortedValue(member, options) : (member ?? null)
    if (members !== undefined) members.push(sorted)
    else if (sorted !== member || (i > 0 && !inOrder(keys[i - 1] as string, keys[i] as string))) {
      members = []
      for (let j = 0; j < i; j++) {
        members.push(value[keys[j] as string] as JsonValue)
      }
      members.push(sorted)
    }
  }
  if (members !== undefined) return rebuilt(value, { keys, members }, options)
  remember(value, keys, options)
  return value
}

function sortedItems(list: JsonValue[], options: SortOptions): JsonValue {
  let changed: JsonValue[] | undefined
  for (let i = 0; i < list.length; i++) {
    const item = list[i] as JsonValue
    const sorted = typeof item === 'object' && item !== null ? sortedValue(item, options) : item
    if (changed !== undefined) changed.push(sorted)
    else if (sorted !== item) changed = [...list.slice(0, i), sorted]
  }
  return changed ?? list
}

/** Returns the keys of an object, in the order of its members. @param known some of them may have been removed */
function presentKeys(value: JsonObject, known: readonly string[]): readonly string[] {
  const present: string[] = []
  for (let i = 0; i < known.length; i++) {
    if (Object.hasOwn(value, known[i] as string)) present.push(known[i] as string)
  }
  return present
}

/** Builds an object with the given member order. Omits undefined members. */
function rebuilt(value: JsonObject, { keys, members }: SortedMembers, options: SortOptions): JsonObject {
  const indexes = new Map<string, number>()
  for (let i = 0; i < keys.length; i++) {
    indexes.set(keys[i] as string, i)
  }
  const sorted: JsonObject = {}
  const ordered = sortKeys([...keys])
  const kept: string[] = []
  for (let i = 0; i < ordered.length; i++) {
    const key = ordered[i] as string
    if (value[key] !== undefined) {
      setMember(sorted, key, members[indexes.get(key) as number] as JsonValue)
      kept.push(key)
    }
  }
  remember(sorted, kept, options)
  return sorted
}
