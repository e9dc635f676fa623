/** A gRPC client and its errors. Internal to krmkit, without a promise of stability. */

export { Endpoints, type MessageReceiver, type MessageStream, type RpcMethod } from './endpoints.ts'
export {
  cancelledStatus,
  deadlineExceeded,
  failedPrecondition,
  internalStatus,
  invalidArgument,
  outOfRange,
  permissionDenied,
  RpcError,
  type RpcFailure,
  resourceExhausted,
  unauthenticated,
  unavailableStatus,
  unimplemented,
  unknownStatus,
} from './rpc-error.ts'
export type { RpcTls } from './target.ts'
