import type { ApiResponse } from '@krmkit/protocol'
import type { Aggregator } from '../aggregation/aggregator.ts'
import type { RequestContext } from '../request/context.ts'
import { createDispatcher } from './dispatch.ts'
import { createNonResourceRoutes, type NonResourceOptions } from './non-resource.ts'

export interface RouteParts extends Omit<NonResourceOptions, 'resources' | 'remote' | 'remoteDocuments'> {
  readonly aggregator: Aggregator | undefined
  readonly failed: (context: RequestContext, error: unknown) => ApiResponse
}

/** The end of the filter chain: dispatches to aggregated servers, then to non-resource paths, then to resources. */
export function buildRoutes({ aggregator, failed, ...options }: RouteParts): (context: RequestContext) => Promise<ApiResponse> {
  const { scope } = options
  const { registry, limits } = scope
  const remote = aggregator === undefined ? {} : { remote: () => aggregator.remote, remoteDocuments: aggregator.documents }
  const nonResource = createNonResourceRoutes({ ...options, ...remote, resources: () => registry.definitions })
  const dispatch = createDispatcher(scope)
  return async (context) => {
    try {
      const proxied = aggregator?.proxy(context, limits.bodyBytes)
      if (proxied !== undefined) {
        // A proxied watch holds no seat of this server.
        context.watchInitialized?.()
        return await proxied
      }
      return await (context.info.isResource ? dispatch(context) : nonResource(context))
    } catch (error) {
      return failed(context, error)
    }
  }
}
