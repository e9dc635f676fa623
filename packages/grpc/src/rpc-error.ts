/** The failure of a call over gRPC. */
export interface RpcFailure {
  /** gRPC status code. */
  readonly status: number
  readonly message: string
  /** Whether the server certainly has not received the request. */
  readonly unsent?: boolean
  readonly cause?: unknown
}

/** A call failed. Unless `unsent` is set, the call may have taken effect or may still take effect. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly status: number
  readonly unsent: boolean

  constructor({ status, message, unsent = false, cause }: RpcFailure) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.unsent = unsent
  }
}

/** gRPC statuses by number. */
export const cancelledStatus = 1
export const unknownStatus = 2
export const invalidArgument = 3
export const deadlineExceeded = 4
export const permissionDenied = 7
export const resourceExhausted = 8
export const failedPrecondition = 9
export const outOfRange = 11
export const unimplemented = 12
export const internalStatus = 13
export const unavailableStatus = 14
export const unauthenticated = 16
