export type ValidateErrorCode =
  /** The files are not a list of objects with `path` and `text`, or an option is unknown or of the wrong kind. */
  | 'InvalidOption'
  /** A rule that does not exist or whose severity is fixed, or an unknown severity. */
  | 'InvalidRule'
  /** The text of a baseline file is invalid. */
  | 'InvalidBaseline'
  /** A JSON schema that is not that of a custom resource. */
  | 'InvalidSchema'

/** Thrown for invalid arguments of a validation. */
export class ValidateError extends Error {
  override readonly name = 'ValidateError'
  readonly code: ValidateErrorCode

  constructor(fields: { readonly code: ValidateErrorCode; readonly message: string; readonly cause?: unknown }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
  }
}
