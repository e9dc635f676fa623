export type ClientErrorCode =
  /** No response: the server cannot be reached, or the connection was interrupted. */
  | 'Unreachable'
  /** A response that violates the protocol. */
  | 'InvalidResponse'
  /** A call with an invalid or missing argument, such as the name of the object. */
  | 'InvalidRequest'
  /** A kubeconfig that cannot be read or used. */
  | 'InvalidKubeconfig'
  /** A credential command is missing, fails, or prints an invalid ExecCredential. */
  | 'CredentialsFailed'
  /** A kubeconfig that needs an unsupported way to authenticate or connect. */
  | 'Unsupported'
  /** The client is closed. */
  | 'Closed'

/** Thrown when a request cannot be sent or its response is invalid. Errors returned by the server are `ApiError`. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  readonly code: ClientErrorCode

  constructor(fields: { readonly code: ClientErrorCode; readonly message: string; readonly cause?: unknown }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
  }
}
