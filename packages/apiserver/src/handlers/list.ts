import { inSpan } from '@krmkit/base/tracing'
import { Pace } from '@krmkit/base/work'
import { ApiError } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { type ListRequest, type ListResult, loadInBatches, validateVersionMatch } from '@krmkit/registry'
import { wantsPretty } from '../encoding/indentation.ts'
import { listResponse } from '../encoding/list.ts'
import type { RequestContext } from '../request/context.ts'
import { integer, text } from '../request/query.ts'
import { internalTypeName, negotiated, type RequestScope } from '../request/scope.ts'
import { usableSelectors, wellFormedSelectors } from './selectors.ts'

/** Transforms of a list. The transform of a single object is accepted here, and refused when the list has been read. */
export const listTransforms = ['Table', 'PartialObjectMetadataList', 'PartialObjectMetadata'] as const

/** GET of a collection. @see API protocol specification, 2.3, 4.2 and 4.3 */
export async function listResource(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const options = listOptions(scope, context)
  const representation = negotiated(scope, context, { transforms: listTransforms })
  const read = () => scope.store.list(listRequest(scope, context, options), context.signal)
  const listed = await (context.span === undefined ? read() : inListSpan(scope, context, read))
  if (representation.transform?.as === 'PartialObjectMetadata') throw notAnObject(scope)
  const loading = loadInBatches((entries) => scope.codec.load(entries), listed.entries, new Pace(scope.turns))
  if (loading !== undefined) await loading
  return listResponse(scope, context, listed, { ...representation, pretty: wantsPretty(context, representation) })
}

/** Lists objects inside the tracing span of storage. */
async function inListSpan(
  { definition }: RequestScope,
  { span, auditId }: RequestContext,
  read: () => Promise<ListResult>,
): Promise<ListResult> {
  span?.event('About to List from storage')
  const { group, resource } = definition.storage
  const fields = () => ({ 'audit-id': auditId, type: group === '' ? resource : `${resource}.${group}` })
  const listed = await inSpan(span, 'cacher.GetList', fields, async (storage) => {
    const found = await read()
    storage?.event('Filtered items', () => ({ count: found.entries.length }))
    return found
  })
  span?.event('Listing from storage done')
  return listed
}

/** The parameters that list and deletecollection share. @throws ApiError 400 */
export function listRequest(scope: RequestScope, { info }: RequestContext, options: ListOptions): ListRequest {
  return { ...options, ...usableSelectors(scope, options), namespace: info.namespace }
}

/** The parameters of a list, as parsed from the query. */
export type ListOptions = Omit<ListRequest, 'namespace'>

/** Reads and checks parameters in the order of kube-apiserver. @throws ApiError 400 */
export function listOptions({ features }: Pick<RequestScope, 'features'>, context: RequestContext): ListOptions {
  const { query } = context
  integer(query, 'timeoutSeconds')
  const limit = integer(query, 'limit')
  return { ...wellFormedSelectors(context, features), limit, ...versionOptions(context) }
}

/** Reads `resourceVersion` and `resourceVersionMatch` of a list. @throws ApiError 400 for an invalid combination */
export function versionOptions({
  query,
}: RequestContext): Pick<ListOptions, 'continueToken' | 'resourceVersion' | 'resourceVersionMatch'> {
  const options = {
    continueToken: text(query, 'continue'),
    resourceVersion: text(query, 'resourceVersion'),
    resourceVersionMatch: text(query, 'resourceVersionMatch'),
  }
  validateVersionMatch(options)
  if (query.has('sendInitialEvents')) {
    throw ApiError.badRequest('sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list')
  }
  return options
}

/** The error for a transform of a single object when the response is a list. */
export function notAnObject({ definition }: RequestScope): ApiError {
  const type = internalTypeName(definition, definition.kind.listKind)
  return ApiError.notAcceptable(`you requested PartialObjectMetadata, but the requested object is a list (${type})`)
}
