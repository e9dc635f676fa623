import { ApiError, type Status } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { StorageError } from '@krmkit/storage'
import type { Negotiator, Representation } from '../media/negotiation.ts'
import { plainResponse, type ResponseWriter } from '../media/response-writer.ts'
import { header, type RequestContext } from '../request/context.ts'
import { wantsPretty } from './indentation.ts'

/** Responses whose body is a Status, in an encoding that the client accepts, or JSON when it accepts none of ours. */

type Asking = Pick<RequestContext, 'query' | 'request'>

function statusResponse(
  responses: ResponseWriter,
  context: Asking,
  status: Status,
  { code, representation }: { readonly code: number; readonly representation: Representation },
): ApiResponse {
  const shown = { ...representation, pretty: wantsPretty(context, representation) }
  const response = plainResponse(responses, code, status, shown, () => responses.types.struct('meta/v1.Status'))
  const retryAfter = status.details?.retryAfterSeconds
  return retryAfter === undefined || retryAfter === 0
    ? response
    : { ...response, headers: { ...response.headers, 'retry-after': String(retryAfter) } }
}

/** A Success Status, in the encoding that was negotiated for the object that it replaces. A Status has no transforms. */
export function successResponse(
  responses: ResponseWriter,
  context: Asking,
  rest: Pick<Status, 'details' | 'code'>,
  form: { readonly code: number; readonly representation: Representation },
): ApiResponse {
  return statusResponse(responses, context, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', ...rest }, form)
}

/** The response to a failed request. Errors other than ApiError are internal: their text stays on the server. */
export function errorResponse(responses: ResponseWriter, context: Asking, error: unknown): ApiResponse {
  const known = ApiError.is(error) ? error : (storageFailure(error) ?? internalFailure())
  const representation = errorRepresentation(responses.negotiator, header(context.request, 'accept'))
  return statusResponse(responses, context, known.status, { code: known.status.code ?? 500, representation })
}

function internalFailure(): ApiError {
  return ApiError.internalError('the request failed; the server keeps the reason in its log')
}

/**
 * The error for a storage that cannot be reached, or cannot write because its disk is full. Clients may repeat the request, unless it may
 * have taken effect.
 */
function storageFailure(error: unknown): ApiError | undefined {
  if (!(error instanceof StorageError) || error.detail.code !== 'Unavailable') return undefined
  const { reason } = error.detail
  if (reason === 'outcome') return ApiError.timeout('request did not complete within the allotted duration')
  if (reason !== 'remote' && reason !== 'journal') return undefined
  const { status } = ApiError.serviceUnavailable('the storage of the server is not available')
  return new ApiError({ ...status, details: { ...status.details, retryAfterSeconds: 1 } })
}

function errorRepresentation(negotiator: Negotiator, accept: string | undefined): Representation {
  try {
    // Errors have no transforms: a client that accepts only transforms receives JSON.
    return negotiator.negotiate(accept, { refusal: true })
  } catch {
    // The client accepts none of our encodings, so it gets a JSON Status.
    return { encoding: 'json', pretty: false }
  }
}
