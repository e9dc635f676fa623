import type { JsonObject, JsonValue } from '@krmkit/meta'
import { isUnchanged as sameBySchema } from '../structural/ratchet.ts'

/** Correlates new values with their old values. */

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

  /** Compared on first use. */
  get unchanged(): boolean {
    this.#same ??= sameBySchema(this.#value, this.#old, this.#schema)
    return this.#same
  }
}

/** Correlation along the path to a value: errors in unchanged parts become warnings. */
export interface Ratchet {
  readonly current: Correlated | undefined
  /** The nearest ancestor with a correlated old value. */
  readonly outer: Correlated | undefined
}

export const noRatchet: Ratchet = { current: undefined, outer: undefined }

export function isUnchanged({ current, outer }: Ratchet): boolean {
  return (current ?? outer)?.unchanged === true
}

/** Descends to a part; `old` is undefined for a part without a correlated old value. */
export function ratchetInto(
  ratchet: Ratchet,
  value: JsonValue,
  { old, schema }: { readonly old: JsonValue | undefined; readonly schema: JsonObject },
): Ratchet {
  if (ratchet.current === undefined) return ratchet
  return { current: old === undefined ? undefined : new Correlated(value, old, schema), outer: ratchet.current }
}
