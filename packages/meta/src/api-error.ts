/**
 * Failures that a client sees.
 */

import { formatGroupKind, formatGroupResource } from './api-version.ts'
import { ErrorBudget } from './error-list.ts'
import { formatFieldErrors } from './field-error.ts'
import { goQuote } from './go-text.ts'
import type { FieldError, GroupKind, GroupResource } from './interfaces.ts'
import { QuietError } from './quiet-error.ts'
import type { Status, StatusCause, StatusDetails, StatusReason } from './status.ts'

/** What an answer to a request with a bare status code says. */
export interface GenericFailure {
  readonly verb?: string
  readonly resource?: GroupResource
  readonly name?: string
  /** Text of the server or library that failed. */
  readonly serverMessage?: string
  readonly retryAfterSeconds?: number
  /** Adds `serverMessage` as a cause of its own. */
  readonly unexpected?: boolean
}

/**
 * A failure that is told to the client as a `Status`. Making one is cheap: no stack is captured, because the
 * failure is an answer and not a fault of the program.
 *
 * @see API protocol specification, 7
 */
export class ApiError extends QuietError {
  readonly status: Status

  constructor(status: Status) {
    super(status.message)
    this.status = status
  }

  /** The HTTP number. */
  get code(): number {
    return this.status.code ?? 500
  }

  get reason(): string {
    return this.status.reason ?? ''
  }

  /** No object of that name. */
  static notFound(resource: GroupResource, name: string): ApiError {
    const message = `${formatGroupResource(resource)} ${goQuote(name)} not found`
    return fail(404, 'NotFound', message, about(resource.group, resource.resource, name))
  }

  /** The name is taken. */
  static alreadyExists(resource: GroupResource, name: string): ApiError {
    const message = `${formatGroupResource(resource)} ${goQuote(name)} already exists`
    return fail(409, 'AlreadyExists', message, about(resource.group, resource.resource, name))
  }

  /** A name made from generateName is taken, even after the tries that are permitted. */
  static generateNameConflict(resource: GroupResource, name: string, retryAfterSeconds = 1): ApiError {
    const message = `${formatGroupResource(resource)} ${goQuote(name)} already exists, the server was not able to generate a unique name for the object`
    return fail(409, 'AlreadyExists', message, about(resource.group, resource.resource, name, { retryAfterSeconds }))
  }

  /** The change does not fit the stored state. */
  static conflict(resource: GroupResource, name: string, detail: string): ApiError {
    const message = `Operation cannot be fulfilled on ${formatGroupResource(resource)} ${goQuote(name)}: ${detail}`
    return fail(409, 'Conflict', message, about(resource.group, resource.resource, name))
  }

  /** A conflict told by its causes alone, as server-side apply does. */
  static applyConflict(causes: StatusCause[], message: string): ApiError {
    return fail(409, 'Conflict', message, { causes })
  }

  /** The object breaks rules of its kind. The message has every text once; the causes keep the errors in order, up to a bound. */
  static invalid(kind: GroupKind, name: string, errors: readonly FieldError[]): ApiError {
    const subject = `${formatGroupKind(kind)} ${goQuote(name)} is invalid`
    const message = errors.length === 0 ? subject : `${subject}: ${formatFieldErrors(errors)}`
    const causes = causesOf(errors)
    return fail(422, 'Invalid', message, about(kind.group, kind.kind, name, causes.length === 0 ? {} : { causes }))
  }

  /** The request cannot be understood. */
  static badRequest(message: string): ApiError {
    return fail(400, 'BadRequest', message)
  }

  /** The caller did not say who they are, or not convincingly. */
  static unauthorized(message = 'Unauthorized'): ApiError {
    return fail(401, 'Unauthorized', message)
  }

  /** The caller may not do that. The resource may be empty (a path without a resource) and the name too. */
  static forbidden(resource: GroupResource, name: string, detail: string): ApiError {
    let message = `forbidden: ${detail}`
    if (resource.resource !== '' || resource.group !== '') {
      const subject = name === '' ? formatGroupResource(resource) : `${formatGroupResource(resource)} ${goQuote(name)}`
      message = `${subject} is ${message}`
    }
    return fail(403, 'Forbidden', message, about(resource.group, resource.resource, name))
  }

  /** The resource exists but lacks the verb. */
  static methodNotSupported(resource: GroupResource, verb: string): ApiError {
    const message = `${verb} is not supported on resources of kind ${goQuote(formatGroupResource(resource))}`
    return fail(405, 'MethodNotAllowed', message, about(resource.group, resource.resource))
  }

  /** No representation that the client accepts. */
  static notAcceptable(message: string): ApiError {
    return fail(406, 'NotAcceptable', message)
  }

  /** The body has a type that is not read here. */
  static unsupportedMediaType(message: string): ApiError {
    return fail(415, 'UnsupportedMediaType', message)
  }

  /** The version or continue token is too old. */
  static expired(message: string): ApiError {
    return fail(410, 'Expired', message)
  }

  /** What was asked for is not there any more. */
  static gone(message: string): ApiError {
    return fail(410, 'Gone', message)
  }

  /** The caller asks too often, or the request would break a budget. */
  static tooManyRequests(message: string, retryAfterSeconds = 0): ApiError {
    return fail(429, 'TooManyRequests', message, retryAfterSeconds > 0 ? { retryAfterSeconds } : {})
  }

  /** The request took longer than it may. */
  static timeout(message: string, retryAfterSeconds = 0): ApiError {
    return fail(504, 'Timeout', `Timeout: ${message}`, retryAfterSeconds > 0 ? { retryAfterSeconds } : {})
  }

  /** The server could not finish; trying again is fine. */
  static serverTimeout(resource: GroupResource, operation: string, retryAfterSeconds = 0): ApiError {
    const message = `The ${operation} operation against ${formatGroupResource(resource)} could not be completed at this time, please try again.`
    const details = about(resource.group, resource.resource, operation, retryAfterSeconds > 0 ? { retryAfterSeconds } : {})
    return fail(500, 'ServerTimeout', message, details)
  }

  /** The version that was asked for lies in the future. */
  static tooLargeResourceVersion(
    asked: string | number | bigint,
    current: string | number | bigint,
    retryAfterSeconds = 1,
  ): ApiError {
    const details: StatusDetails = { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] }
    if (retryAfterSeconds > 0) details.retryAfterSeconds = retryAfterSeconds
    return fail(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, details)
  }

  /** The server, or one that it needs, is not ready. */
  static serviceUnavailable(message: string): ApiError {
    return fail(503, 'ServiceUnavailable', message)
  }

  /** A fault of the server, or of one that it asked. */
  static internalError(message: string): ApiError {
    return fail(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] })
  }

  /** The body, or what it asks for, is too big. */
  static requestEntityTooLarge(message: string): ApiError {
    return fail(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`)
  }

  /** There is no such resource. */
  static genericNotFound(): ApiError {
    return ApiError.generic(404)
  }

  /** The answer that belongs to a bare HTTP number. */
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
    return fail(code, reason, message, about(resource?.group ?? '', resource?.resource ?? '', name, more))
  }

  /** Whether `value` is a failure of this class, also when another copy of this package made it. */
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

/** Details in the order in which they are printed, without empty members. */
function about(group: string, kind: string, name = '', more: StatusDetails = {}): StatusDetails {
  const details: StatusDetails = {}
  if (name !== '') details.name = name
  if (group !== '') details.group = group
  if (kind !== '') details.kind = kind
  if (more.causes !== undefined) details.causes = more.causes
  if (more.retryAfterSeconds !== undefined) details.retryAfterSeconds = more.retryAfterSeconds
  return details
}

function fail(code: number, reason: StatusReason | '', message: string, details?: StatusDetails): ApiError {
  const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' }
  if (message !== '') status.message = message
  if (reason !== '') status.reason = reason
  if (details !== undefined) status.details = details
  status.code = code
  return new ApiError(status)
}
