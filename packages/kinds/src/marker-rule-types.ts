import type { Work } from '@krmkit/base/work'
import type { ApiObject, DeepReadonly, FieldError } from '@krmkit/meta'

/** A write whose object is validated. Objects are of the storage version. */
export interface ValidatedWrite {
  readonly object: DeepReadonly<ApiObject>
  /** The stored object of an update. Absent: the object is new. */
  readonly old?: DeepReadonly<ApiObject> | undefined
  /** Name of the subresource that is written. Absent or empty: the object itself. */
  readonly subresource?: string | undefined
  /** Converts an object to the version of the request, whose fields rules and their errors name. */
  inVersion(object: DeepReadonly<ApiObject>): Work<DeepReadonly<ApiObject>>
}

/** The rules that a release states as markers of the type of a kind. They complete the validation of its strategy. */
export interface MarkerRules {
  /** Loads the rules; `undefined`: they are loaded. */
  load(): Promise<void> | undefined
  /**
   * The errors of the strategy that the rules do not report as well, followed by those of the rules.
   *
   * @throws Error before `load` has completed
   */
  complete(errors: readonly FieldError[], write: ValidatedWrite): Work<readonly FieldError[]>
}
