import { ApiError } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { successResponse } from '../encoding/status-response.ts'
import type { RequestContext } from '../request/context.ts'
import { negotiated, type RequestScope } from '../request/scope.ts'
import { deleteOptions } from './delete-options.ts'
import { listOptions, listRequest, listTransforms, notAnObject } from './list.ts'
import { writeContext } from './write-context.ts'

/** DELETE of a collection. */
export async function deleteCollection(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { definition, responses } = scope
  const representation = negotiated(scope, context, { transforms: listTransforms })
  const listed = listRequest(scope, context, listOptions(scope, context))
  const options = await deleteOptions(scope, context)
  if (definition.kind.namespaced && context.info.namespace === '') throw ApiError.badRequest('Namespace parameter required.')
  const isOfObject = representation.transform?.as === 'PartialObjectMetadata'
  // Differs: kube-apiserver refuses this form only after deleting the objects; here the deletion is a dry run.
  const dryRun = isOfObject || (options.dryRun ?? []).length > 0
  await scope.store.deleteCollection(writeContext(context, { dryRun, fieldManager: '' }), { ...listed, options })
  if (isOfObject) throw notAnObject(scope)
  const details = { ...(definition.group === '' ? {} : { group: definition.group }), kind: definition.resource.name }
  return successResponse(responses, context, { details, code: 200 }, { code: 200, representation })
}
