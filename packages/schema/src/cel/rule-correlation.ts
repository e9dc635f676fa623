import type { JsonObject, JsonValue } from '@krmkit/meta'
import { stringifyJson } from '../json/encode-json.ts'
import { isObject, own } from '../structural/schema-node.ts'

/** Which old value belongs to a new one, and whether the two are the same. */

/** A value before and after an update. */
export class Correlated {
  readonly #value: JsonValue
  readonly #old: JsonValue
  #same: boolean | undefined

  constructor(value: JsonValue, old: JsonValue) {
    this.#value = value
    this.#old = old
  }

  /** Compared when it is first asked for. */
  get unchanged(): boolean {
    this.#same ??= sameValue(this.#value, this.#old)
    return this.#same
  }
}

/** What is known of the way down to a value: faults in what is unchanged become warnings. */
export interface Ratchet {
  readonly current: Correlated | undefined
  /** The nearest part around it that an old value belongs to. */
  readonly outer: Correlated | undefined
}

export const noRatchet: Ratchet = { current: undefined, outer: undefined }

export function isUnchanged({ current, outer }: Ratchet): boolean {
  return (current ?? outer)?.unchanged === true
}

/** A step down to a part; `old` is undefined where none belongs to it. */
export function ratchetInto(ratchet: Ratchet, value: JsonValue, old: JsonValue | undefined): Ratchet {
  if (ratchet.current === undefined) return ratchet
  return { current: old === undefined ? undefined : new Correlated(value, old), outer: ratchet.current }
}

/** Items of lists with keys, by their keys. */
export function itemsByKeys(list: JsonValue | undefined, keys: readonly string[]): (item: JsonValue) => JsonValue | undefined {
  if (keys.length === 0 || !Array.isArray(list)) return () => undefined
  const found = new Map<string, JsonValue>()
  for (const item of list) {
    const key = keyOf(item, keys)
    if (!found.has(key)) found.set(key, item)
  }
  return (item) => found.get(keyOf(item, keys))
}

function keyOf(item: JsonValue, keys: readonly string[]): string {
  return isObject(item) ? stringifyJson(keys.map((key) => own(item as JsonObject, key) ?? null)) : ''
}

function sameValue(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameValue(item, b[index] as JsonValue))
  }
  if (Array.isArray(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key] as JsonValue, b[key] as JsonValue))
  )
}
