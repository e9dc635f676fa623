/** The failure of a call to etcd. */
export interface EtcdFailure {
  /** Status of gRPC. */
  readonly status: number
  readonly message: string
  /** The server cannot have received the request. */
  readonly unsent?: boolean
  readonly cause?: unknown
}

/** A call failed. Unless `unsent` is set, a write may still have been, or become, effective. */
export class EtcdError extends Error {
  override readonly name = 'EtcdError'
  readonly status: number
  readonly unsent: boolean

  constructor({ status, message, unsent = false, cause }: EtcdFailure) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.unsent = unsent
  }

  /** The requested revision was compacted. */
  get isCompacted(): boolean {
    return this.status === outOfRange && this.message.includes('compacted')
  }

  /** The requested revision has not been written yet. */
  get isFuture(): boolean {
    return this.status === outOfRange && this.message.includes('future')
  }

  /** The server refused the request for what it asks, or for lack of space or rights: it had no effect and never will. */
  get isRefusal(): boolean {
    return this.unsent || refusals.has(this.status)
  }
}

/** gRPC statuses by number. */
export const unknownStatus = 2
export const deadlineExceeded = 4
const invalidArgument = 3
const permissionDenied = 7
export const resourceExhausted = 8
const failedPrecondition = 9
export const outOfRange = 11
const unimplemented = 12
export const unavailableStatus = 14
const unauthenticated = 16

const refusals: ReadonlySet<number> = new Set([
  invalidArgument,
  permissionDenied,
  resourceExhausted,
  failedPrecondition,
  outOfRange,
  unimplemented,
  unauthenticated,
])
