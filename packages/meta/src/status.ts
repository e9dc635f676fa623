/** The Status object, which describes the outcome of a request. */

/** @see API protocol specification, 7 */
export type StatusReason =
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Invalid'
  | 'ServerTimeout'
  | 'StoreReadError'
  | 'Timeout'
  | 'TooManyRequests'
  | 'BadRequest'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'RequestEntityTooLarge'
  | 'UnsupportedMediaType'
  | 'InternalError'
  | 'Expired'
  | 'ServiceUnavailable'

/** One of several causes of a failure. */
export interface StatusCause {
  /**
   * A `FieldError` reason, `FieldManagerConflict`, `UnexpectedServerResponse`, `ResourceVersionTooLarge`, or a custom word.
   */
  reason?: string
  message?: string
  field?: string
}

/** The object and causes of a failure. */
export interface StatusDetails {
  name?: string
  group?: string
  /** The kind, or the resource if the kind is unknown. */
  kind?: string
  uid?: string
  causes?: StatusCause[]
  /** Seconds to wait before a retry. */
  retryAfterSeconds?: number
}

/** The outcome of a request. Members are in the serialization order of kube-apiserver. */
export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: { continue?: string; resourceVersion?: string; remainingItemCount?: number }
  status?: 'Success' | 'Failure'
  message?: string
  /** A `StatusReason`, or a custom word of an admission webhook. */
  reason?: StatusReason | (string & {})
  details?: StatusDetails
  code?: number
}

/**
 * The response to a deletion, and to other requests that succeed without an object.
 *
 * @example
 * import { successStatus } from '@krmkit/meta'
 * successStatus({ kind: 'pods', name: 'web' }).status // 'Success'
 */
export function successStatus(details?: StatusDetails): Status {
  const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' }
  if (details !== undefined) status.details = details
  return status
}
