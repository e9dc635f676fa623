/** Lists and maps of devices, requests and the like: each item is valid, and there are not too many of them. */

import type { Work } from '@krmkit/base/work'
import { utf8Length } from '@krmkit/meta/go-text'
import type { FieldPath } from '../shared/field-path.ts'
import { sortedKeys } from '../shared/sorted-keys.ts'
import { isSet } from '../shared/values.ts'
import { printDeviceId } from './device-id.ts'
import { atLeast } from './names.ts'

/** Items that are validated in one step. */
const itemsPerStep = 16

export interface ListRules<T> {
  /** Largest number of items. Absent: no limit. */
  readonly max?: number
  readonly each: (item: T, at: FieldPath) => Work | void
}

export interface SetRules<T> extends ListRules<T> {
  /** What must be unique. */
  readonly key: (item: T) => string
  /** Member that duplicates are reported at before 1.35. Absent: the item. */
  readonly member?: string
  /** Keys are those of `deviceId`. */
  readonly ofDevices?: boolean
}

/** Validates the items, then their number. Since 1.35 the items of a list with too many of them are not validated. */
export function* validateList<T>(items: readonly T[] | null | undefined, at: FieldPath, { max, each }: ListRules<T>): Work {
  if (!isSet(items)) return
  if (isTooLong(items, at, max)) {
    at.tooMany(items.length, max as number)
    return
  }
  for (let i = 0; i < items.length; i++) {
    const work = each(items[i] as T, at.index(i))
    if (work !== undefined) yield* work
    if (i % itemsPerStep === itemsPerStep - 1) yield
  }
  if (max !== undefined && items.length > max) at.tooMany(items.length, max)
}

function isTooLong(items: readonly unknown[], at: FieldPath, max: number | undefined): boolean {
  return max !== undefined && items.length > max && atLeast(at, '1.35')
}

/** As `validateList`; then reports the items that have the key of one before. */
export function* validateSet<T>(items: readonly T[] | null | undefined, at: FieldPath, rules: SetRules<T>): Work {
  yield* validateList(items, at, rules)
  if (isTooLong(items ?? [], at, rules.max)) return
  const { member } = rules
  const seen = new Set<string>()
  for (let i = 0; i < (items?.length ?? 0); i++) {
    const key = rules.key(items?.[i] as T)
    if (seen.has(key)) {
      const here = member === undefined || atLeast(at, '1.35') ? at.index(i) : at.index(i).child(member)
      here.duplicate(rules.ofDevices === true ? printDeviceId(key) : key)
    }
    seen.add(key)
    if (i % itemsPerStep === itemsPerStep - 1) yield
  }
}

export interface MapRules<V> {
  /** Largest number of members. Absent: no limit. */
  readonly max?: number
  /** Number of bytes from which keys are shortened in paths. */
  readonly longestKey: number
  readonly key: (key: string, at: FieldPath) => void
  readonly value?: (value: V, at: FieldPath) => void
}

/** Validates the members of a map. */
export function* validateMembers<V>(
  map: Readonly<Record<string, V>> | null | undefined,
  at: FieldPath,
  { max, longestKey, key: validateKey, value: validateValue }: MapRules<V>,
): Work {
  if (!isSet(map)) return
  const keys = yield* sortedKeys(map)
  if (max !== undefined && keys.length > max) {
    at.tooMany(keys.length, max)
    return
  }
  // Since 1.36 errors of keys name the map.
  const namesMap = atLeast(at, '1.36')
  let count = 0
  for (const key of keys) {
    const here = at.key(shortened(key, longestKey))
    validateKey(key, namesMap ? at : here)
    validateValue?.(map[key] as V, here)
    if (++count % itemsPerStep === 0) yield
  }
}

const ellipsis = '...'

/** Leaves out the middle of a long key. */
function shortened(key: string, max: number): string {
  if (utf8Length(key) <= max) return key
  const rest = max - ellipsis.length
  return `${key.slice(0, Math.ceil(rest / 2))}${ellipsis}${key.slice(key.length - Math.floor(rest / 2))}`
}
