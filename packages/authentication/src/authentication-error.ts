export type AuthenticationErrorCode =
  /** The token file is malformed. */
  | 'InvalidTokenFile'
  /** A CA bundle contains no certificate, or a malformed one. */
  | 'InvalidAuthority'
  /** Front proxy header names are missing or invalid. */
  | 'InvalidHeaders'
  /** OpenID Connect options are invalid. */
  | 'InvalidOidc'
  /** The AuthenticationConfiguration is invalid. */
  | 'InvalidConfiguration'
  /** Service account token options are invalid. */
  | 'InvalidIssuer'
  /** An argument is missing or of another kind. */
  | 'InvalidArgument'
  /** A test fixture is invalid. */
  | 'InvalidFixture'

/** Thrown for an invalid configuration of an authenticator. Invalid credentials are an outcome, never an exception. */
export class AuthenticationError extends Error {
  override readonly name = 'AuthenticationError'
  readonly code: AuthenticationErrorCode
  /** Line of the file, from 1; undefined for codes without a file. */
  readonly line: number | undefined

  constructor(fields: {
    readonly code: AuthenticationErrorCode
    readonly message: string
    readonly line?: number
    readonly cause?: unknown
  }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
    this.line = fields.line
  }
}
