import { ApiError, type Status, type StatusReason } from '@krmkit/meta'
import type { RequestAttributes } from './request-attributes.ts'

/** A failure that a fault responds with. Absent members are those of kube-apiserver for the code. */
export interface FailFault {
  /** HTTP status: 410, 429, 503 ... */
  readonly fail: number
  readonly reason?: StatusReason
  readonly message?: string
  readonly retryAfterSeconds?: number
  /** Whether to fail after the server has processed the request, so that a write has taken effect. Default false. */
  readonly afterWrite?: boolean
}

/** The properties of a request that failure messages contain. */
export interface FailedRequest extends RequestAttributes {
  readonly user: string
  /** Newest revision of the store. */
  readonly revision: number
}

const expiredContinue =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.'
const modified = 'the object has been modified; please apply your changes to the latest version and try again'

/** Returns the Status of a failure. */
export function statusOf(fault: FailFault, request: FailedRequest): Status {
  const { status } = stockError(fault, request)
  const { reason = status.reason, message = status.message, retryAfterSeconds = status.details?.retryAfterSeconds } = fault
  const details = retryAfterSeconds === undefined ? status.details : { ...status.details, retryAfterSeconds }
  return {
    ...status,
    ...(message === undefined ? {} : { message }),
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
  }
}

/** Returns the error of a watch from a version that was compacted. */
export function expiredWatch({ query, revision }: Pick<FailedRequest, 'query' | 'revision'>): Status {
  return ApiError.expired(`too old resource version: ${versionIn(query)} (${revision})`).status
}

function stockError({ fail }: FailFault, request: FailedRequest): ApiError {
  const { name, query, verb, user, namespace, path } = request
  const resource = { group: request.group, resource: request.resource }
  const isChange = verb !== 'create' && request.resource !== ''
  switch (fail) {
    case 401:
      return ApiError.unauthorized()
    case 403: {
      const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`
      const what = `resource "${resource.resource}" in API group "${resource.group}" ${where}`
      return ApiError.forbidden(
        resource,
        name,
        `User "${user}" cannot ${verb} ${resource.resource === '' ? `path "${path}"` : what}`,
      )
    }
    case 404:
      return name === '' ? ApiError.genericNotFound() : ApiError.notFound(resource, name)
    case 409:
      return isChange ? ApiError.conflict(resource, name, modified) : ApiError.generic(409, { resource, name, verb })
    case 410:
      if (new URLSearchParams(query).has('continue')) return ApiError.expired(expiredContinue)
      return ApiError.expired(`too old resource version: ${versionIn(query)} (${request.revision})`)
    case 429:
      return ApiError.tooManyRequests('Too many requests, please try again later.', 1)
    case 500:
      return ApiError.internalError('a fault of the test')
    case 503:
      return ApiError.serviceUnavailable('a fault of the test')
    case 504:
      return ApiError.timeout('request did not complete within the allotted timeout')
    default:
      return ApiError.generic(fail, { resource, name, verb })
  }
}

function versionIn(query: string): string {
  return new URLSearchParams(query).get('resourceVersion') ?? '0'
}
