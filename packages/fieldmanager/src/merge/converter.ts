import type { Work } from '@krmkit/base/work'
import type { JsonValue } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import type { TypeRef } from '../typed/types.ts'

/** A value with its type; the value `undefined` stands for an absent object. */
export interface TypedValue {
  readonly value: JsonValue | undefined
  readonly type: TypeRef
}

/** Converts objects between the versions of their kind. */
export interface Converter {
  /**
   * Converts an object to a version, as a generator that may yield promises, which `runPaced` awaits; `undefined` for unknown versions,
   * whose managers are dropped. Must be pure.
   *
   * @throws FieldManagerError `Unconvertible` when the object cannot be converted, or does not match the type of the version.
   */
  convert(object: TypedValue, apiVersion: string): Work<TypedValue | undefined>
  /** Whether a version is known, without a conversion. */
  isKnown?(apiVersion: string): boolean
}

/** The converter for kinds with the same schema in every version. */
export const identityConverter: Converter = {
  // biome-ignore lint/correctness/useYield: nothing to wait for
  *convert(object) {
    return object
  },
  isKnown: () => true,
}

/**
 * Converts an object. @throws FieldManagerError `Unconvertible` whose message begins with `failure`, so that clients see which step failed
 */
export function* convertFor(
  failure: string,
  converter: Converter,
  object: TypedValue,
  apiVersion: string,
): Work<TypedValue | undefined> {
  try {
    return yield* converter.convert(object, apiVersion)
  } catch (error) {
    if (!(error instanceof FieldManagerError)) throw error
    throw new FieldManagerError({ code: error.code, message: `${failure}: ${error.message}`, cause: error })
  }
}
