/** The reasons for which a patch fails; each maps to one HTTP status. The set is closed. */
export type PatchErrorCode =
  /** The patch is malformed or misuses its directives: 400. */
  | 'BadPatch'
  /** The patch is well-formed but cannot be applied to the object: 422. */
  | 'Unprocessable'
  /** The patch exceeds the maximum number of operations: 413. */
  | 'TooManyOperations'
  /** Live state changed since the last apply; reported only with `overwrite: false`. */
  | 'Conflict'

/** The reasons for which functions of this package fail. The set is closed; messages are for people. */
export type FieldManagerErrorCode =
  | PatchErrorCode
  /** Malformed JSON, path element or field set. */
  | 'InvalidFieldSet'
  /** An unusable schema: an unknown type name, or a type that is neither scalar, list nor map. */
  | 'InvalidSchema'
  /** The object does not match its schema. */
  | 'InvalidObject'
  /** Stored managedFields that cannot be decoded. */
  | 'InvalidManagedFields'
  /** An argument is missing or of the wrong type, or an option has an unknown member. */
  | 'InvalidArgument'
  /** An apply body with managedFields, with another version than the request, or for another object. */
  | 'InvalidApply'
  /** A version that the type converter does not know. */
  | 'MissingVersion'
  /** An object that cannot be converted to the version in which one of its managers owns fields. */
  | 'Unconvertible'
  /** A value that exceeds a limit of depth or size. */
  | 'TooLarge'

export interface FieldManagerErrorFields {
  readonly code: FieldManagerErrorCode
  readonly message: string
  /** Location within the object: `.spec.ports[0]`. */
  readonly path?: string
  /** The individual errors, when there are several. */
  readonly errors?: readonly string[]
  readonly cause?: unknown
}

/** Failure of a function of this package, patches included. Conflicts of apply and other expected outcomes are return values. */
export class FieldManagerError extends Error {
  override readonly name = 'FieldManagerError'
  readonly code: FieldManagerErrorCode
  readonly path: string | undefined
  readonly errors: readonly string[]

  constructor({ code, message, path, errors = [], cause }: FieldManagerErrorFields) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.path = path
    this.errors = errors
  }
}

/** Throws when an internal invariant is broken, which is a bug in this package. */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${message}`)
}
