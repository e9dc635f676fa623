import type { ObjectInformer } from '@krmkit/authorization'
import type { Registry } from '@krmkit/registry'

export interface StoreFeedOptions {
  readonly registry: Pick<Registry, 'storeOf'>
  /** Aborting it ends every follower. */
  readonly closing: AbortSignal
  readonly onError: (error: unknown) => void
}

/**
 * Feeds authorizers and flow control from the store. `catchUp` delivers pending events synchronously, so that a new binding is in
 * force for the next request.
 */
export function storeFeed({ registry, closing, onError }: StoreFeedOptions): ObjectInformer {
  return {
    async follow(resource, sink) {
      const following = await registry.storeOf(resource)?.follow(sink, { signal: closing, onError })
      return following === undefined ? undefined : () => following.catchUp()
    },
  }
}
