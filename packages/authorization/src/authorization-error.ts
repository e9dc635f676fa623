export type AuthorizationErrorCode =
  /** A file of policies that cannot be read as one. */
  | 'InvalidPolicyFile'
  /** An AuthorizationConfiguration that cannot be used. */
  | 'InvalidConfiguration'

/** What an authorizer cannot be made from. The message is for people. */
export class AuthorizationError extends Error {
  override readonly name = 'AuthorizationError'
  readonly code: AuthorizationErrorCode
  /** Of a policy file, from 1. */
  readonly line: number | undefined

  constructor(fields: { readonly code: AuthorizationErrorCode; readonly message: string; readonly line?: number }) {
    super(fields.message)
    this.code = fields.code
    this.line = fields.line
  }
}
