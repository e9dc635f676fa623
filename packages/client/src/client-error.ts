export type ClientErrorCode =
  /** No answer: the server cannot be reached, or the connection broke. */
  | 'Unreachable'
  /** An answer that is not what the protocol says. */
  | 'InvalidAnswer'
  /** A call that lacks something: a name, a namespace. */
  | 'InvalidCall'
  /** A kubeconfig that cannot be read or used. */
  | 'InvalidKubeconfig'
  /** Credentials that could not be got: a command that is missing, fails or answers wrongly. */
  | 'CredentialsFailed'
  /** A kubeconfig that asks for a way to log in or connect that is not supported. */
  | 'Unsupported'
  /** The client was closed. */
  | 'Closed'

/** The client could not ask, or could not understand. What the server refuses is an `ApiError`. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  readonly code: ClientErrorCode

  constructor(fields: { readonly code: ClientErrorCode; readonly message: string; readonly cause?: unknown }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
  }
}
