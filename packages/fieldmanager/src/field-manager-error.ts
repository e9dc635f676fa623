/** The reasons for which functions of this package fail. The set is closed; messages are for people. */
export type FieldManagerErrorCode =
  /** Malformed JSON, path element or field set. */
  | 'InvalidFieldSet'
  /** An unusable schema: an unknown type name, or an atom without a form. */
  | 'InvalidSchema'
  /** The object does not fit its schema. */
  | 'InvalidObject'
  /** Stored managedFields that cannot be decoded. */
  | 'InvalidManagedFields'
  /** An apply body with managedFields, or with another version than the request. */
  | 'InvalidApply'
  /** A version that the type converter does not know. */
  | 'MissingVersion'
  /** A value that exceeds a limit of depth or size. */
  | 'TooLarge'

export interface FieldManagerErrorFields {
  /** Location within the object: `.spec.ports[0]`. */
  readonly path?: string
  /** The individual errors, when there are several. */
  readonly errors?: readonly string[]
  readonly cause?: unknown
}

/** Failure of a function of this package. Conflicts and other expected outcomes are return values. */
export class FieldManagerError extends Error {
  readonly code: FieldManagerErrorCode
  readonly path: string | undefined
  readonly errors: readonly string[]

  constructor(code: FieldManagerErrorCode, message: string, fields: FieldManagerErrorFields = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.name = 'FieldManagerError'
    this.code = code
    this.path = fields.path
    this.errors = fields.errors ?? []
  }
}

/** Throws when an internal invariant is broken, which is a bug in this package. */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${message}`)
}
