import { ApiError } from '@krmkit/meta'
import { Slices } from '@krmkit/meta/slices'
import type { ApiResponse } from '@krmkit/protocol'
import { type ListRequest, loadInBatches } from '@krmkit/registry'
import { wantsPretty } from '../encoding/indentation.ts'
import { listResponse } from '../encoding/list.ts'
import { integer, text } from '../query.ts'
import type { RequestContext } from '../request-context.ts'
import { internalTypeName, negotiated, type RequestScope } from '../request-scope.ts'
import { selectors } from './selectors.ts'

/** Transforms of a list. One of a single object is accepted here and refused once there is a list. */
const transforms = ['Table', 'PartialObjectMetadataList', 'PartialObjectMetadata'] as const

/** GET of a collection. @see API protocol specification, 2.3, 4.2 and 4.3 */
export async function listResource(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const representation = negotiated(scope, context, { transforms })
  const listed = await scope.store.list(listRequest(scope, context), context.signal)
  if (representation.transform?.as === 'PartialObjectMetadata') throw notAnObject(scope)
  const loading = loadInBatches((entries) => scope.codec.load(entries), listed.entries, new Slices(scope.slices))
  if (loading !== undefined) await loading
  return listResponse(scope, context, listed, { ...representation, pretty: wantsPretty(context, representation) })
}

/** The parameters that list and deletecollection share. @throws ApiError 400 */
export function listRequest(scope: RequestScope, context: RequestContext): ListRequest {
  const { query, info } = context
  // In the order in which the stock server reads them.
  integer(query, 'timeoutSeconds')
  const limit = integer(query, 'limit')
  const selected = selectors(scope, context)
  if (query.has('sendInitialEvents')) {
    throw ApiError.badRequest('sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list')
  }
  return {
    namespace: info.namespace,
    ...selected,
    limit,
    continueToken: text(query, 'continue'),
    resourceVersion: text(query, 'resourceVersion'),
    resourceVersionMatch: text(query, 'resourceVersionMatch'),
  }
}

function notAnObject({ definition }: RequestScope): ApiError {
  const type = internalTypeName(definition, definition.kind.listKind)
  return ApiError.notAcceptable(`you requested PartialObjectMetadata, but the requested object is a list (${type})`)
}
