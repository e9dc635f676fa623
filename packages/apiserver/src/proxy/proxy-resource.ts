import type { ApiResponse } from '@krmkit/protocol'
import type { Location } from '../backends/interfaces.ts'
import type { RequestContext } from '../request/context.ts'
import type { RequestScope } from '../request/scope.ts'
import { forward } from './forward.ts'
import { type AddressedNode, nodeLocation } from './node-location.ts'
import { type AddressedPod, podLocation } from './pod-location.ts'
import { serviceLocation } from './service-location.ts'
import { parseTargetId } from './target-id.ts'

/** The subresource `proxy` of pods, services and nodes: forwards the request. @throws ApiError */
export async function proxyResource(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const location = await locationOf(scope, context)
  const { backends, clock, limits, turns } = scope
  return forward(context, { backends, clock, location, turns, limitBytes: limits.bodyBytes })
}

async function locationOf(scope: RequestScope, context: RequestContext): Promise<Location> {
  const { definition, registry, random, backends } = scope
  const { namespace, name: id } = context.info
  switch (definition.kind.kind) {
    case 'Service':
      return serviceLocation(id, { reader: registry.reader, random, namespace })
    case 'Node': {
      const target = parseTargetId(id, 'node')
      const node = await readObject<AddressedNode>(scope, context, target.name)
      return nodeLocation(id, node, { target, options: backends.options })
    }
    default: {
      const target = parseTargetId(id, 'pod')
      return podLocation(id, target, await readObject<AddressedPod>(scope, context, target.name))
    }
  }
}

async function readObject<T>({ store, codec }: RequestScope, context: RequestContext, name: string): Promise<T> {
  const { namespace } = context.info
  return codec.object(await store.get({ namespace, name }, context)) as unknown as T
}
