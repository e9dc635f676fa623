import { ApiError } from '@krmkit/meta'
import { isStorableName, objectKey } from '@krmkit/registry'
import type { ApiResponse } from '../interfaces.ts'
import type { ResourceRequest } from '../resource-handler.ts'

/**
 * Sub-resources that lead to a node (`exec`, `attach`, `portforward`, `log`, `proxy`). This server has no nodes of its own
 * to lead to: it says why, as the stock server does when a pod runs nowhere.
 */
export async function connectResource(request: ResourceRequest): Promise<ApiResponse> {
  const { machinery, state, definition } = request
  const { namespace, name } = state.info
  const { storage } = machinery.writer.environment
  const entry = isStorableName(name) ? storage.peek(objectKey(definition, namespace, name)) : undefined
  if (entry === undefined) throw ApiError.notFound({ group: definition.group, resource: definition.resource.name }, name)
  const host = (machinery.parsed.objectOf(entry) as { spec?: { nodeName?: string } }).spec?.nodeName ?? ''
  if (definition.kind.kind === 'Pod' && host === '') throw ApiError.badRequest(`pod ${name} does not have a host assigned`)
  throw ApiError.serviceUnavailable(
    `no way leads to ${host === '' ? name : `node ${JSON.stringify(host)}`}: this server is not connected to any node`,
  )
}
