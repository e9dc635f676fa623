/** What the failure of a call to etcd means. */
import {
  failedPrecondition,
  invalidArgument,
  outOfRange,
  permissionDenied,
  RpcError,
  resourceExhausted,
  unauthenticated,
  unimplemented,
} from '@krmkit/grpc'

/** The requested revision was compacted. */
export function isCompacted(error: unknown): boolean {
  return isFailure(error, outOfRange, 'compacted')
}

/** The requested revision has not been written yet. */
export function isFuture(error: unknown): boolean {
  return isFailure(error, outOfRange, 'future')
}

/** The quota of the server is exhausted. The write that exhausts it is applied and answered by this error; later ones are not applied. */
export function isOutOfSpace(error: unknown): boolean {
  return isFailure(error, resourceExhausted, 'database space exceeded')
}

/** The server refused the request for what it asks, or for lack of rights: it had no effect and never will. */
export function isRefusal(error: unknown): boolean {
  return error instanceof RpcError && (error.unsent || (refusals.has(error.status) && !isOutOfSpace(error)))
}

function isFailure(error: unknown, status: number, text: string): boolean {
  return error instanceof RpcError && error.status === status && error.message.includes(text)
}

const refusals: ReadonlySet<number> = new Set([
  invalidArgument,
  permissionDenied,
  resourceExhausted,
  failedPrecondition,
  outOfRange,
  unimplemented,
  unauthenticated,
])
