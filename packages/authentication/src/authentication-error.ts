export type AuthenticationErrorCode =
  /** A token file that cannot be read as one. */
  | 'InvalidTokenFile'
  /** Certificate authorities that are no PEM certificates. */
  | 'InvalidAuthority'
  /** Headers of a front proxy that are missing or no names of headers. */
  | 'InvalidHeaders'
  /** Settings of OpenID Connect that cannot be used. */
  | 'InvalidOidc'
  /** An AuthenticationConfiguration that cannot be used. */
  | 'InvalidConfiguration'
  /** Settings of service account tokens that cannot be used. */
  | 'InvalidIssuer'
  /** A structure in a test: a certificate, a token that the identity lab cannot make. */
  | 'InvalidFixture'

/** The configuration of an authenticator is unusable. Bad credentials are an outcome, never an exception. */
export class AuthenticationError extends Error {
  override readonly name = 'AuthenticationError'
  readonly code: AuthenticationErrorCode
  /** Line of the file, counted from 1, where there is one. */
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
