import { printerOf } from '@krmkit/kinds'
import { healthyComponent } from '@krmkit/kinds/strategies'
import { ApiError } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { wantsPretty } from '../encoding/indentation.ts'
import { tableOf } from '../encoding/table.ts'
import { listOptions } from '../handlers/list.ts'
import { usableSelectors } from '../handlers/selectors.ts'
import { plainResponse } from '../media/response-writer.ts'
import { header, type RequestContext } from '../request/context.ts'
import type { RequestScope } from '../request/scope.ts'

/** ComponentStatus of the control plane. Only the storage is listed, because all other components are part of this process. */
export async function componentStatuses(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { responses, definition, profile, clock } = scope
  const storage = healthyComponent('storage-0')
  const { request, info } = context
  const single = info.verb === 'get'
  if (single && info.name !== storage.metadata.name)
    throw ApiError.notFound({ group: '', resource: 'componentstatus' }, info.name)
  const isShown = single || isSelected(scope, context, storage)
  const negotiated = responses.negotiator.negotiate(header(request, 'accept'), { transforms: ['Table'] })
  const representation = { ...negotiated, pretty: wantsPretty(context, negotiated) }
  // As on kube-apiserver, this list is never paginated and has no continue token.
  const metadata = {}
  const shown = isShown ? [storage] : []
  if (representation.transform !== undefined) {
    const table = tableOf(await printerOf(definition), shown, metadata, {
      version: representation.transform.version,
      profile,
      include: 'Metadata',
      now: clock.now(),
    })
    return plainResponse(responses, 200, table, representation, () => responses.types.struct('meta/v1.Table'))
  }
  if (single) return plainResponse(responses, 200, storage, representation, definition.kind.type)
  const items = shown.map(({ kind: _kind, apiVersion: _apiVersion, ...item }) => item)
  const list = { kind: 'ComponentStatusList', apiVersion: 'v1', metadata, items }
  return plainResponse(responses, 200, list, representation, () => responses.types.struct('core/v1.ComponentStatusList'))
}

/** Whether the parameters of a list select the component, which has no resourceVersion. @throws ApiError 400 for invalid parameters */
function isSelected(
  scope: RequestScope,
  context: RequestContext,
  { metadata }: { readonly metadata: { readonly name?: string } },
): boolean {
  const { labelSelector, fieldSelector } = usableSelectors(scope, listOptions(scope, context))
  const fields = { 'metadata.name': metadata.name ?? '', 'metadata.namespace': '' }
  return labelSelector?.matches({}) !== false && fieldSelector?.matches(fields) !== false
}
