import { ApiError } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { entryResponse } from '../encoding/object-response.ts'
import { flag, text } from '../query.ts'
import type { RequestContext } from '../request-context.ts'
import { negotiatedObjects, type RequestScope } from '../request-scope.ts'

/** GET of one object. @see API protocol specification, 4.2 */
export async function getResource(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { namespace, name } = context.info
  const representation = negotiatedObjects(scope, context)
  refuseExport(context)
  const resourceVersion = text(context.query, 'resourceVersion')
  const entry = await scope.store.get({ namespace, name, resourceVersion }, context)
  const loading = scope.codec.load([entry])
  if (loading !== undefined) await loading
  return entryResponse(scope, context, entry, representation)
}

/** `export` once returned objects without the members that their cluster had added. @throws ApiError 400 */
function refuseExport({ query }: RequestContext): void {
  if (query.has('export') && flag(query, 'export')) {
    throw ApiError.badRequest('the export parameter, deprecated since v1.14, is no longer supported')
  }
}
