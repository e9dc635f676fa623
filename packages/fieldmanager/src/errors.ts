/** Why a function of this package failed; the message is for people. */
export type FieldManagerErrorCode =
  /** Text or value that is no JSON value, path element or field set. */
  | 'InvalidFieldSet'
  /** A schema that cannot be used: an unknown type name, an atom without a form. */
  | 'InvalidSchema'
  /** The object does not fit its schema. */
  | 'InvalidObject'
  /** Stored managedFields cannot be decoded. */
  | 'InvalidManagedFields'
  /** The body of an apply carries what it must not. */
  | 'InvalidApply'
  /** A version is not known to the converter; its managers are dropped. */
  | 'MissingVersion'
  /** Limits of depth or size are exceeded. */
  | 'TooLarge'

export interface FieldManagerErrorFields {
  /** Where in the object, `.spec.ports[0]`. */
  readonly path?: string
  /** Single findings, for failures that have several. */
  readonly errors?: readonly string[]
}

/** Failure of this package; expected refusals (conflicts) are values instead. */
export class FieldManagerError extends Error {
  readonly code: FieldManagerErrorCode
  readonly path: string | undefined
  readonly errors: readonly string[]

  constructor(code: FieldManagerErrorCode, message: string, fields: FieldManagerErrorFields = {}) {
    super(message)
    this.name = 'FieldManagerError'
    this.code = code
    this.path = fields.path
    this.errors = fields.errors ?? []
  }
}
