/**
 * The object that tells how a request ended.
 */

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
  /** A `FieldError` reason, `FieldManagerConflict`, `UnexpectedServerResponse`, `ResourceVersionTooLarge`, or another word. */
  reason?: string
  message?: string
  field?: string
}

/** What the failure is about. */
export interface StatusDetails {
  name?: string
  group?: string
  /** The kind, or the resource where the kind is not known. */
  kind?: string
  uid?: string
  causes?: StatusCause[]
  /** Seconds to wait before another try. */
  retryAfterSeconds?: number
}

/** How a request ended. Members stand in the order in which the stock server prints them. */
export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: { continue?: string; resourceVersion?: string; remainingItemCount?: number }
  status?: 'Success' | 'Failure'
  message?: string
  /** One of `StatusReason`, or a word that an admission webhook chose. */
  reason?: StatusReason | (string & {})
  details?: StatusDetails
  code?: number
}

/** The answer to a deletion, and to other requests that succeed without an object. */
export function successStatus(details?: StatusDetails): Status {
  const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' }
  if (details !== undefined) status.details = details
  return status
}
