import type { JsonObject, JsonValue } from '@krmkit/meta'
import { isUnchanged as sameBySchema } from '../structural/ratchet.ts'

/** Which old value belongs to a new one, and whether the two are the same. */

/** A value before and after an update. */
export class Correlated {
  readonly #value: JsonValue
  readonly #old: JsonValue
  readonly #schema: JsonObject
  #same: boolean | undefined

  constructor(value: JsonValue, old: JsonValue, schema: JsonObject) {
    this.#value = value
    this.#old = old
    this.#schema = schema
  }

  /** Compared when it is first asked for. */
  get unchanged(): boolean {
    this.#same ??= sameBySchema(this.#value, this.#old, this.#schema)
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
export function ratchetInto(
  ratchet: Ratchet,
  value: JsonValue,
  { old, schema }: { readonly old: JsonValue | undefined; readonly schema: JsonObject },
): Ratchet {
  if (ratchet.current === undefined) return ratchet
  return { current: old === undefined ? undefined : new Correlated(value, old, schema), outer: ratchet.current }
}
