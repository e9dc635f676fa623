import { memberNames, rememberKey, rememberMemberNames, type Work } from '@krmkit/base/work'
import { type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { inOrder, sortKeys } from '../json/shape.ts'

export interface SortOptions {
  /** Keys of large objects, some of which may have been removed. */
  readonly keys?: ReadonlyMap<object, readonly string[]> | undefined
  /** The result is never modified: large objects are frozen, and `memberNames` caches their keys. */
  readonly constant?: boolean
}

/** Sorts the members of every object by name; returns the same value when they are already sorted. */
export function* sortedValue(value: JsonValue, options: SortOptions = {}): Work<JsonValue> {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return yield* sortedItems(value, options)
  const known = options.keys?.get(value)
  const keys = known === undefined ? memberNames(value) : yield* presentKeys(value, known)
  if (keys.length > membersPerStep) yield true
  // Most values are sorted, so members are collected only once an unsorted one is found.
  let members: JsonValue[] | undefined
  for (let i = 0; i < keys.length; i++) {
    const member = value[keys[i] as string]
    const sorted = typeof member === 'object' && member !== null ? yield* sortedValue(member, options) : (member ?? null)
    if (members !== undefined) members.push(sorted)
    else if (sorted !== member || (i > 0 && !inOrder(keys[i - 1] as string, keys[i] as string))) {
      members = []
      for (let j = 0; j < i; j++) {
        members.push(value[keys[j] as string] as JsonValue)
        if (j % membersPerStep === 0) yield
      }
      members.push(sorted)
    }
    if (i % membersPerStep === 0) yield
  }
  if (members !== undefined) return yield* rebuilt(value, { keys, members }, options)
  remember(value, keys, options)
  return value
}

function* sortedItems(list: JsonValue[], options: SortOptions): Work<JsonValue> {
  if (list.length > membersPerStep) yield true
  let changed: JsonValue[] | undefined
  for (let i = 0; i < list.length; i++) {
    const item = list[i] as JsonValue
    const sorted = typeof item === 'object' && item !== null ? yield* sortedValue(item, options) : item
    if (changed !== undefined) changed.push(sorted)
    else if (sorted !== item) changed = [...list.slice(0, i), sorted]
    if (i % membersPerStep === 0) yield
  }
  return changed ?? list
}

/** Returns the keys of an object, in the order of its members. @param known some of them may have been removed */
function* presentKeys(value: JsonObject, known: readonly string[]): Work<readonly string[]> {
  const present: string[] = []
  for (let i = 0; i < known.length; i++) {
    if (Object.hasOwn(value, known[i] as string)) present.push(known[i] as string)
    if (i % membersPerStep === 0) yield
  }
  return present
}

/** Members visited between two pauses. */
export const membersPerStep = 128

export interface SortedMembers {
  readonly keys: readonly string[]
  /** The values, in the same order. */
  readonly members: readonly JsonValue[]
}

/** Builds an object with the given member order. Omits undefined members. */
function* rebuilt(value: JsonObject, { keys, members }: SortedMembers, options: SortOptions): Work<JsonObject> {
  const indexes = new Map<string, number>()
  for (let i = 0; i < keys.length; i++) {
    indexes.set(keys[i] as string, i)
    if (i % membersPerStep === 0) yield
  }
  const sorted: JsonObject = {}
  const ordered = yield* sortKeys([...keys])
  const kept: string[] = []
  for (let i = 0; i < ordered.length; i++) {
    const key = ordered[i] as string
    if (value[key] !== undefined) {
      setMember(sorted, key, members[indexes.get(key) as number] as JsonValue)
      kept.push(key)
    }
    if (i % membersPerStep === 0) yield
  }
  remember(sorted, kept, options)
  return sorted
}

export function remember(object: JsonObject, keys: readonly string[], { constant = false }: SortOptions): void {
  if (constant) rememberMemberNames(object, keys)
  else rememberKey(object, keys)
}
