/** API errors, as clients receive them. */

import { StacklessError } from '@krmkit/base'
import { formatGroupKind, formatGroupResource } from './api-version.ts'
import { goQuote } from './go-text.ts'
import type { Features, FieldError, GroupKind, GroupResource } from './interfaces.ts'
import type { Status, StatusCause, StatusDetails, StatusReason } from './status.ts'
import { ErrorBudget } from './validation/error-list.ts'
import { formatFieldErrors } from './validation/field-error.ts'
import { errorsAt } from './validation/printed-error.ts'

/** Input for the error of a response that has only a status code. */
export interface GenericFailure {
  readonly verb?: string
  readonly resource?: GroupResource
  readonly name?: string
  /** Message of the server or library that failed. */
  readonly serverMessage?: string
  readonly retryAfterSeconds?: number
  /** Adds `serverMessage` as a cause. */
  readonly unexpected?: boolean
}

/**
 * An API error that clients receive as a `Status`. It is cheap to create: no stack is captured, because it is a response and not
 * a bug.
 *
 * @example
 * import { ApiError } from '@krmkit/meta'
 * const error = ApiError.notFound({ group: 'apps', resource: 'deployments' }, 'web')
 * error.message // 'deployments.apps "web" not found'
 * error.code // 404
 * @see API protocol specification, 7
 */
export class ApiError extends StacklessError {
  readonly status: Status

  constructor(status: Status) {
    super(status.message)
    this.status = status
  }

  /** The HTTP status code. */
  get code(): number {
    return this.status.code ?? 500
  }

  get reason(): string {
    return this.status.reason ?? ''
  }

  /** 404: no object of that name. */
  static notFound(resource: GroupResource, name: string): ApiError {
    const message = `${formatGroupResource(resource)} ${goQuote(name)} not found`
    return createError(404, 'NotFound', message, detailsOf(resource.group, resource.resource, name))
  }

  /** 409: an object of that name exists. */
  static alreadyExists(resource: GroupResource, name: string): ApiError {
    const message = `${formatGroupResource(resource)} ${goQuote(name)} already exists`
    return createError(409, 'AlreadyExists', message, detailsOf(resource.group, resource.resource, name))
  }

  /** 409: all attempts to generate a free name failed. */
  static generateNameConflict(resource: GroupResource, name: string, retryAfterSeconds = 1): ApiError {
    const message = `${formatGroupResource(resource)} ${goQuote(name)} already exists, the server was not able to generate a unique name for the object`
    return createError(409, 'AlreadyExists', message, detailsOf(resource.group, resource.resource, name, { retryAfterSeconds }))
  }

  /** 409: the change conflicts with the stored state. */
  static conflict(resource: GroupResource, name: string, detail: string): ApiError {
    const message = `Operation cannot be fulfilled on ${formatGroupResource(resource)} ${goQuote(name)}: ${detail}`
    return createError(409, 'Conflict', message, detailsOf(resource.group, resource.resource, name))
  }

  /** 409: a conflict described by its causes, as in server-side apply. */
  static applyConflict(causes: StatusCause[], message: string): ApiError {
    return createError(409, 'Conflict', message, { causes })
  }

  /**
   * 422: the object violates rules of its kind. The message contains each error once; the causes list the errors in order, up to
   * a limit.
   *
   * @param features the release that states the errors. Absent: 1.33.
   */
  static invalid(kind: GroupKind, name: string, found: readonly FieldError[], features?: Pick<Features, 'release'>): ApiError {
    const errors = features === undefined ? found : errorsAt(found, features.release)
    const subject = `${formatGroupKind(kind)} ${goQuote(name)} is invalid`
    const message = errors.length === 0 ? subject : `${subject}: ${formatFieldErrors(errors)}`
    const causes = causesOf(errors)
    return createError(422, 'Invalid', message, detailsOf(kind.group, kind.kind, name, causes.length === 0 ? {} : { causes }))
  }

  /** 400: the request is malformed. */
  static badRequest(message: string): ApiError {
    return createError(400, 'BadRequest', message)
  }

  /** 401: authentication failed or is missing. */
  static unauthorized(message = 'Unauthorized'): ApiError {
    return createError(401, 'Unauthorized', message)
  }

  /** 403: access denied. The resource is empty for non-resource paths; the name may be empty. */
  static forbidden(resource: GroupResource, name: string, detail: string): ApiError {
    let message = `forbidden: ${detail}`
    if (resource.resource !== '' || resource.group !== '') {
      const subject = name === '' ? formatGroupResource(resource) : `${formatGroupResource(resource)} ${goQuote(name)}`
      message = `${subject} is ${message}`
    }
    return createError(403, 'Forbidden', message, detailsOf(resource.group, resource.resource, name))
  }

  /** 405: the resource does not support the verb. */
  static methodNotSupported(resource: GroupResource, verb: string): ApiError {
    const message = `${verb} is not supported on resources of kind ${goQuote(formatGroupResource(resource))}`
    return createError(405, 'MethodNotAllowed', message, detailsOf(resource.group, resource.resource))
  }

  /** 406: the server has no representation that the client accepts. */
  static notAcceptable(message: string): ApiError {
    return createError(406, 'NotAcceptable', message)
  }

  /** 415: the body has an unsupported media type. */
  static unsupportedMediaType(message: string): ApiError {
    return createError(415, 'UnsupportedMediaType', message)
  }

  /** 410: the resource version or continue token is too old. */
  static expired(message: string): ApiError {
    return createError(410, 'Expired', message)
  }

  /** 410: the requested item no longer exists. */
  static gone(message: string): ApiError {
    return createError(410, 'Gone', message)
  }

  /** 429: too many requests, or a disruption budget would be violated. */
  static tooManyRequests(message: string, retryAfterSeconds = 0): ApiError {
    return createError(429, 'TooManyRequests', message, retryAfterSeconds > 0 ? { retryAfterSeconds } : {})
  }

  /** 504: the request exceeded its time limit. */
  static timeout(message: string, retryAfterSeconds = 0): ApiError {
    return createError(504, 'Timeout', `Timeout: ${message}`, retryAfterSeconds > 0 ? { retryAfterSeconds } : {})
  }

  /** 500: the server could not finish; the request can be retried. */
  static serverTimeout(resource: GroupResource, operation: string, retryAfterSeconds = 0): ApiError {
    const message = `The ${operation} operation against ${formatGroupResource(resource)} could not be completed at this time, please try again.`
    const details = detailsOf(resource.group, resource.resource, operation, retryAfterSeconds > 0 ? { retryAfterSeconds } : {})
    return createError(500, 'ServerTimeout', message, details)
  }

  /** 504: the requested resource version is in the future. */
  static tooLargeResourceVersion(
    asked: string | number | bigint,
    current: string | number | bigint,
    retryAfterSeconds = 1,
  ): ApiError {
    const details: StatusDetails = { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] }
    if (retryAfterSeconds > 0) details.retryAfterSeconds = retryAfterSeconds
    return createError(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, details)
  }

  /** 503: the server, or one it depends on, is not ready. */
  static serviceUnavailable(message: string): ApiError {
    return createError(503, 'ServiceUnavailable', message)
  }

  /** 500: a failure of the server, or of one it depends on. */
  static internalError(message: string): ApiError {
    return createError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] })
  }

  /** An error with a status code but without a reason, as kube-apiserver returns unclassified errors. */
  static withoutReason(code: number, message: string): ApiError {
    return createError(code, '', message)
  }

  /** 413: the body, or the request, is too large. */
  static requestEntityTooLarge(message: string): ApiError {
    return createError(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`)
  }

  /** 404: no such resource. */
  static genericNotFound(): ApiError {
    return ApiError.generic(404)
  }

  /** The error for a response that has only a status code. */
  static generic(code: number, failure: GenericFailure = {}): ApiError {
    const [reason, text] = genericText(code, failure)
    let message = text
    const { resource, name = '', verb = '' } = failure
    if (resource !== undefined && (resource.resource !== '' || resource.group !== '')) {
      const words = [verb.toLowerCase(), formatGroupResource(resource)]
      if (name !== '') words.push(name)
      message = `${text} (${words.join(' ')})`
    }
    const more: StatusDetails = {}
    if (failure.unexpected) more.causes = [cause('UnexpectedServerResponse', failure.serverMessage ?? '')]
    if (failure.retryAfterSeconds) more.retryAfterSeconds = failure.retryAfterSeconds
    return createError(code, reason, message, detailsOf(resource?.group ?? '', resource?.resource ?? '', name, more))
  }

  /** Whether `value` is an ApiError, even one of another copy of this package. */
  static is(value: unknown): value is ApiError {
    return value instanceof ApiError || (value instanceof Error && value.name === 'ApiError' && 'status' in value)
  }
}

Object.defineProperty(ApiError.prototype, 'name', { value: 'ApiError', configurable: true, writable: true })

function genericText(code: number, { verb, serverMessage = '' }: GenericFailure): [StatusReason | '', string] {
  switch (code) {
    case 400:
      return ['BadRequest', 'the server rejected our request for an unknown reason']
    case 401:
      return ['Unauthorized', 'the server has asked for the client to provide credentials']
    case 403:
      return ['Forbidden', serverMessage]
    case 404:
      return ['NotFound', 'the server could not find the requested resource']
    case 405:
      return ['MethodNotAllowed', 'the server does not allow this method on the requested resource']
    case 406: {
      const unknown = serverMessage === '' || serverMessage === 'unknown'
      return [
        'NotAcceptable',
        unknown ? 'the server was unable to respond with a content type that the client supports' : serverMessage,
      ]
    }
    case 409:
      return [verb === 'POST' ? 'AlreadyExists' : 'Conflict', 'the server reported a conflict']
    case 415:
      return ['UnsupportedMediaType', serverMessage]
    case 422:
      return ['Invalid', 'the server rejected our request due to an error in our request']
    case 429:
      return ['TooManyRequests', 'the server has received too many requests and has asked us to try again later']
    case 503:
      return ['ServiceUnavailable', 'the server is currently unable to handle the request']
    case 504:
      return [
        'Timeout',
        'the server was unable to return a response in the time allotted, but may still be processing the request',
      ]
  }
  if (code >= 500) {
    return ['InternalError', `an error on the server (${goQuote(serverMessage)}) has prevented the request from succeeding`]
  }
  return ['', `the server responded with the status code ${code} but did not return more information`]
}

function causesOf(errors: readonly FieldError[]): StatusCause[] {
  const causes: StatusCause[] = []
  const budget = new ErrorBudget()
  for (const error of errors) {
    causes.push({ reason: error.reason, message: error.message, field: error.field })
    if (budget.spend(error)) break
  }
  return causes
}

function cause(reason: string, message: string): StatusCause {
  return message === '' ? { reason } : { reason, message }
}

/** Non-empty details, in serialization order. */
function detailsOf(group: string, kind: string, name = '', more: StatusDetails = {}): StatusDetails {
  const details: StatusDetails = {}
  if (name !== '') details.name = name
  if (group !== '') details.group = group
  if (kind !== '') details.kind = kind
  if (more.causes !== undefined) details.causes = more.causes
  if (more.retryAfterSeconds !== undefined) details.retryAfterSeconds = more.retryAfterSeconds
  return details
}

function createError(code: number, reason: StatusReason | '', message: string, details?: StatusDetails): ApiError {
  const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' }
  if (message !== '') status.message = message
  if (reason !== '') status.reason = reason
  if (details !== undefined) status.details = details
  status.code = code
  return new ApiError(status)
}
