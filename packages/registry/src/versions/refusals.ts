import { ApiError } from '@krmkit/meta'
import { DecodeError } from '@krmkit/schema'

/** Errors of objects that cannot be read or stored. */

/**
 * Converts the error of a failed decoding to the ApiError for the client: 413 for a body that is too large, otherwise 400.
 *
 * @returns other errors unchanged.
 * @example
 * import { ApiError } from '@krmkit/meta'
 * import { decodeRefusal } from '@krmkit/registry'
 * import { DecodeError } from '@krmkit/schema'
 * const error = decodeRefusal(new DecodeError({ code: 'Syntax', message: 'unexpected end of JSON input' }), 1_572_864)
 * ApiError.is(error) && error.code // 400
 */
export function decodeRefusal(error: unknown, maxBytes: number): unknown {
  if (!(error instanceof DecodeError)) return error
  return error.code === 'TooLarge' ? objectTooLarge(maxBytes) : ApiError.badRequest(error.message)
}

/**
 * The 413 for an object above the limit. Clients match the error text of etcd.
 *
 * @example
 * import { objectTooLarge } from '@krmkit/registry'
 * objectTooLarge(1_572_864).code // 413
 */
export function objectTooLarge(maxBytes: number): ApiError {
  return ApiError.requestEntityTooLarge(`etcdserver: request is too large: stored objects may have ${maxBytes} bytes`)
}
