import type { JsonObject, JsonValue } from '@krmkit/meta'
import { isUnchanged as sameBySchema } from '../structural/ratcheting.ts'

/** Correlates new values with their old values. */

/** A value before and after an update. */
export class CorrelatedObject {
  readonly #value: JsonValue
  readonly #old: JsonValue
  readonly #schema: JsonObject
  #same: boolean | undefined

  constructor(value: JsonValue, old: JsonValue, schema: JsonObject) {
    this.#value = value
    this.#old = old
    this.#schema = schema
  }

  /** Whether both values are equal; compared on first use. */
  get unchanged(): boolean {
    this.#same ??= sameBySchema(this.#value, this.#old, this.#schema)
    return this.#same
  }
}

/** Correlation along the path to a value: errors in unchanged parts become warnings. */
export interface RatchetState {
  readonly current: CorrelatedObject | undefined
  /** The nearest ancestor with a correlated old value. */
  readonly outer: CorrelatedObject | undefined
}

export const uncorrelated: RatchetState = { current: undefined, outer: undefined }

export function isUnchanged({ current, outer }: RatchetState): boolean {
  return (current ?? outer)?.unchanged === true
}

/** Descends to a part; `old` is undefined for a part without a correlated old value. */
export function ratchetChild(
  ratchet: RatchetState,
  value: JsonValue,
  { old, schema }: { readonly old: JsonValue | undefined; readonly schema: JsonObject },
): RatchetState {
  if (ratchet.current === undefined) return ratchet
  return { current: old === undefined ? undefined : new CorrelatedObject(value, old, schema), outer: ratchet.current }
}
