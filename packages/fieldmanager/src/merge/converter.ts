import type { JsonValue } from '@krmkit/meta'
import type { TypeRef } from '../typed/types.ts'

/** A value with its type; `undefined` stands for an object that does not exist. */
export interface TypedValue {
  readonly value: JsonValue | undefined
  readonly type: TypeRef
}

/** Brings objects into other versions of their kind. */
export interface Converter {
  /**
   * The object at a version; `undefined` when that version is not known (any more), upon which what was owned in its
   * terms is forgotten. Must be pure.
   */
  convert(object: TypedValue, apiVersion: string): TypedValue | undefined
  /** Answers for a version without converting anything. */
  knows?(apiVersion: string): boolean
}

/** For kinds with one schema in every version. */
export const identityConverter: Converter = {
  convert: (object) => object,
  knows: () => true,
}
