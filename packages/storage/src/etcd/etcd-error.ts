/** Classifies failures of calls to etcd. */
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

/** Whether a call failed because the requested revision was compacted. */
export function isCompacted(error: unknown): boolean {
  return isFailure(error, outOfRange, 'compacted')
}

/** Whether a call failed because the requested revision has not been written yet. */
export function isFuture(error: unknown): boolean {
  return isFailure(error, outOfRange, 'future')
}

/**
 * Whether a write failed because the quota of the server is exhausted. The write that exhausts the quota is applied and still fails with
 * this error; later writes are not applied.
 */
export function isOutOfSpace(error: unknown): boolean {
  return isFailure(error, resourceExhausted, 'database space exceeded')
}

/** Whether the server refused a request as invalid or not permitted: such a request had no effect and never will. */
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
