import { defaultPrinter } from '@krmkit/kinds'
import { ApiError } from '@krmkit/meta'
import type { FrozenObject } from '@krmkit/registry'
import type { ApiResponse } from '../interfaces.ts'
import { header } from '../request-context.ts'
import type { ResourceRequest } from '../resource-handler.ts'
import { objectResponse } from '../responses.ts'
import { tableOf } from '../table.ts'

/** The parts of a control plane that report their health here: storage alone, since everything else is this process. */
export async function componentStatuses({ machinery, state, definition }: ResourceRequest): Promise<ApiResponse> {
  const { responder, writer } = machinery
  const { info } = state
  const storage = {
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name: 'storage-0', creationTimestamp: null },
    conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }],
  }
  const single = info.verb === 'get'
  if (single && info.name !== storage.metadata.name)
    throw ApiError.notFound({ group: '', resource: 'componentstatuses' }, info.name)
  const representation = responder.negotiator.negotiate(header(state.request, 'accept'), { transforms: ['Table'] })
  const metadata = {}
  if (representation.transform !== undefined) {
    const table = tableOf(definition.strategy.printer ?? defaultPrinter, [storage as unknown as FrozenObject], metadata, {
      version: representation.transform.version,
      profile: writer.environment.profile,
      include: 'Metadata',
      now: writer.environment.clock.now(),
    })
    return objectResponse(responder, 200, table, representation, () => responder.types.struct('meta/v1.Table'))
  }
  if (single) return objectResponse(responder, 200, storage, representation, definition.kind.type)
  const { kind: _kind, apiVersion: _apiVersion, ...item } = storage
  const list = { kind: 'ComponentStatusList', apiVersion: 'v1', metadata, items: [item] }
  return objectResponse(responder, 200, list, representation, () => responder.types.struct('core/v1.ComponentStatusList'))
}
