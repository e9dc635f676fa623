import type { JsonObject, JsonValue } from '@krmkit/meta'
import { setMember } from '@krmkit/meta'
import { memberNames, rememberKey, rememberMemberNames, type Work } from '@krmkit/meta/work'
import { inOrder, sortKeys, sortKeysSteps } from '../decode/shape.ts'

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

export interface SortOptions {
  /** Keys of large objects, some of which may have been removed. */
  readonly keys?: ReadonlyMap<object, readonly string[]> | undefined
  /** The result is not changed: `memberNames` knows the keys of large objects, which are frozen. */
  readonly constant?: boolean
}

/** As `sortedValue`, with pauses. */
export function* sortedValueSteps(value: JsonValue, options: SortOptions = {}): Work<JsonValue> {
  if (typeof value !== 'object' || value === null) return value
  const keys = Array.isArray(value) ? undefined : yield* presentKeys(value, options)
  const count = keys?.length ?? (value as JsonValue[]).length
  if (count > membersPerStep) yield true
  const members: JsonValue[] = []
  let same = true
  for (let i = 0; i < count; i++) {
    const member = (value as Record<string | number, JsonValue>)[keys?.[i] ?? i]
    const sorted = typeof member === 'object' && member !== null ? yield* sortedValueSteps(member, options) : (member ?? null)
    members.push(sorted)
    same &&= sorted === member && (keys === undefined || i === 0 || inOrder(keys[i - 1] as string, keys[i] as string))
    if (i % membersPerStep === 0) yield
  }
  const remember = options.constant === true ? rememberMemberNames : rememberKey
  if (keys !== undefined && same) remember(value, keys)
  if (same) return value
  return keys === undefined ? members : yield* rebuiltSteps(value as JsonObject, { keys, members, remember })
}

/** The keys of an object, in the order of its members. */
function* presentKeys(value: JsonObject, { keys }: SortOptions): Work<readonly string[]> {
  const known = keys?.get(value)
  if (known === undefined) return memberNames(value)
  const present: string[] = []
  for (let i = 0; i < known.length; i++) {
    if (Object.hasOwn(value, known[i] as string)) present.push(known[i] as string)
    if (i % membersPerStep === 0) yield
  }
  return present
}

const membersPerStep = 128

/** As `rebuilt`, with pauses. */
function* rebuiltSteps(
  value: JsonObject,
  {
    keys,
    members,
    remember,
  }: { readonly keys: readonly string[]; readonly members: readonly JsonValue[]; readonly remember: typeof rememberKey },
): Work<JsonObject> {
  const indexes = new Map<string, number>()
  for (let i = 0; i < keys.length; i++) {
    indexes.set(keys[i] as string, i)
    if (i % membersPerStep === 0) yield
  }
  const sorted: JsonObject = {}
  const ordered = yield* sortKeysSteps([...keys])
  const kept: string[] = []
  for (let i = 0; i < ordered.length; i++) {
    const key = ordered[i] as string
    if (value[key] !== undefined) {
      setMember(sorted, key, members[indexes.get(key) as number] as JsonValue)
      kept.push(key)
    }
    if (i % membersPerStep === 0) yield
  }
  remember(sorted, kept)
  return sorted
}
