import type { JsonValue } from '@krmkit/meta'
import type { TypeRef } from '../typed/types.ts'

/** A value with its type; the value `undefined` stands for an absent object. */
export interface TypedValue {
  readonly value: JsonValue | undefined
  readonly type: TypeRef
}

/** Converts objects between the versions of their kind. */
export interface Converter {
  /** Converts an object to a version; `undefined` for unknown versions, whose managers are dropped. Must be pure. */
  convert(object: TypedValue, apiVersion: string): TypedValue | undefined
  /** Whether a version is known, without a conversion. */
  isKnown?(apiVersion: string): boolean
}

/** For kinds with the same schema in every version. */
export const identityConverter: Converter = {
  convert: (object) => object,
  isKnown: () => true,
}
