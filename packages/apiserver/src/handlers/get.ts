import { inSpan } from '@krmkit/base/tracing'
import { ApiError } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { entryForm, entryResponse } from '../encoding/object-response.ts'
import type { NegotiationOptions } from '../media/negotiation.ts'
import type { RequestContext } from '../request/context.ts'
import { flag, text } from '../request/query.ts'
import { internalTypeName, negotiatedObjects, type RequestScope } from '../request/scope.ts'

/** The transform of lists is accepted here, and refused when the object has been read. */
const forms: NegotiationOptions = { transforms: ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'] }

/** GET of one object. @see API protocol specification, 4.2 */
export async function getResource(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { namespace, name } = context.info
  const representation = negotiatedObjects(scope, context, forms)
  refuseExport(context)
  const resourceVersion = text(context.query, 'resourceVersion')
  const read = () => scope.store.get({ namespace, name, resourceVersion }, context)
  const entry = await (context.span === undefined ? read() : inReadSpan(scope, context, read))
  if (representation.transform?.as === 'PartialObjectMetadataList') throw notAList(scope)
  const loading = scope.codec.load([entry])
  if (loading !== undefined) await loading
  const preparing = scope.codec.ready(entry, entryForm(context, representation), scope.turns)
  if (preparing !== undefined) await preparing
  return entryResponse(scope, context, entry, representation)
}

/** Reads an object inside the tracing span of storage. */
function inReadSpan<T>({ store }: RequestScope, context: RequestContext, read: () => T | Promise<T>): Promise<T> {
  const { info, span, query, auditId } = context
  span?.event('About to Get from storage')
  const fields = () => ({
    'audit-id': auditId,
    key: store.keyOf(info),
    'resource-version': text(query, 'resourceVersion') ?? '',
  })
  return inSpan(span, 'cacher.Get', fields, read)
}

function notAList({ definition }: RequestScope): ApiError {
  const type = internalTypeName(definition, definition.kind.kind)
  return ApiError.notAcceptable(`you requested PartialObjectMetadataList, but the requested object is not a list (${type})`)
}

/** Refuses the removed parameter `export`, which returned objects without the members that the cluster adds. @throws ApiError 400 */
function refuseExport({ query }: RequestContext): void {
  if (query.has('export') && flag(query, 'export')) {
    throw ApiError.badRequest('the export parameter, deprecated since v1.14, is no longer supported')
  }
}
