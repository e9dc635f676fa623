/** What an authorizer cannot be made from. The message is for people. */
export class AuthorizationError extends Error {
  override readonly name = 'AuthorizationError'
  readonly code: 'InvalidPolicyFile'
  /** From 1. */
  readonly line: number

  constructor(fields: { readonly code: 'InvalidPolicyFile'; readonly line: number; readonly message: string }) {
    super(fields.message)
    this.code = fields.code
    this.line = fields.line
  }
}
