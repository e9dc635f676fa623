export type AuthorizationErrorCode =
  /** The policy file is malformed. */
  | 'InvalidPolicyFile'
  /** The AuthorizationConfiguration is invalid. */
  | 'InvalidConfiguration'
  /** An argument is missing or of another kind. */
  | 'InvalidArgument'

/** Thrown for an invalid configuration of an authorizer. A forbidden request is a decision, never an exception. */
export class AuthorizationError extends Error {
  override readonly name = 'AuthorizationError'
  readonly code: AuthorizationErrorCode
  /** Line of the policy file, from 1; undefined for codes without a file. */
  readonly line: number | undefined

  constructor(fields: {
    readonly code: AuthorizationErrorCode
    readonly message: string
    readonly line?: number
    readonly cause?: unknown
  }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
    this.line = fields.line
  }
}
