import { Slices } from '@krmkit/meta/slices'
import type { ApiResponse } from '@krmkit/protocol'
import { type ListRequest, loadInBatches } from '@krmkit/registry'
import { wantsPretty } from '../encoding/indentation.ts'
import { listResponse } from '../encoding/list.ts'
import { integer, text } from '../query.ts'
import type { RequestContext } from '../request-context.ts'
import { negotiated, type RequestScope } from '../request-scope.ts'
import { selectors } from './selectors.ts'

/** GET of a collection. @see API protocol specification, 2.3, 4.2 and 4.3 */
export async function listResource(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const representation = negotiated(scope, context, { transforms: ['Table', 'PartialObjectMetadataList'] })
  const listed = await scope.store.list(listRequest(scope, context), context.signal)
  const loading = loadInBatches((entries) => scope.codec.load(entries), listed.entries, new Slices(scope.slices))
  if (loading !== undefined) await loading
  return listResponse(scope, context, listed, { ...representation, pretty: wantsPretty(context, representation) })
}

/** The parameters that list and deletecollection share. @throws ApiError 400 */
export function listRequest(scope: RequestScope, context: RequestContext): ListRequest {
  const { query, info } = context
  const limit = integer(query, 'limit')
  integer(query, 'timeoutSeconds')
  return {
    namespace: info.namespace,
    ...selectors(scope, context),
    limit,
    continueToken: text(query, 'continue'),
    resourceVersion: text(query, 'resourceVersion'),
    resourceVersionMatch: text(query, 'resourceVersionMatch'),
  }
}
