import type { ApiResponse } from '@krmkit/protocol'
import { type DeleteResult, type FrozenObject, validateDeleteOptions } from '@krmkit/registry'
import { storedResponse } from '../encoding/object-response.ts'
import { successResponse } from '../encoding/status-response.ts'
import type { Representation } from '../media/negotiation.ts'
import type { RequestContext } from '../request/context.ts'
import { negotiatedObjects, type RequestScope } from '../request/scope.ts'
import { deleteOptions } from './delete-options.ts'
import { writeContext } from './write-context.ts'

/** DELETE of one object. @see API protocol specification, 3 and 7 */
export async function deleteResource(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { namespace, name } = context.info
  const representation = negotiatedObjects(scope, context)
  const options = await deleteOptions(scope, context)
  validateDeleteOptions(options, scope)
  const write = writeContext(context, { dryRun: (options.dryRun ?? []).length > 0, fieldManager: '' })
  context.span?.event('About to delete object from database')
  const result = await scope.store.delete(write, { namespace, name, options })
  context.span?.event('Object deleted from database')
  const status = !result.removed && options.orphanDependents === false ? 202 : 200
  if (answersWithStatus(scope, result)) return deletionStatus(scope, context, result.object, { code: status, representation })
  return storedResponse(scope, context, result, { representation, status })
}

function answersWithStatus({ definition }: RequestScope, { removed }: DeleteResult): boolean {
  const { deleteResponse = 'Status' } = definition.strategy
  return deleteResponse === 'StatusAlways' || (deleteResponse === 'Status' && removed)
}

function deletionStatus(
  { responses, definition }: RequestScope,
  context: RequestContext,
  { metadata }: FrozenObject,
  form: { readonly code: number; readonly representation: Representation },
): ApiResponse {
  const details = {
    name: metadata.name ?? '',
    ...(definition.group === '' ? {} : { group: definition.group }),
    kind: definition.resource.name,
    uid: metadata.uid ?? '',
  }
  return successResponse(responses, context, { details }, form)
}
