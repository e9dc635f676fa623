import type { ApiObject, DeepReadonly } from '@krmkit/meta'

/**
 * Webhook configurations, policies and bindings that a plugin reads from files besides those of the API. No request can change them, so
 * they also apply to the configurations of webhooks and policies.
 */
export interface StaticObjects {
  /**
   * The objects of a resource such as `validatingwebhookconfigurations`, with defaults, sorted by name. The list is the same until the
   * files change.
   */
  list(resource: string): readonly DeepReadonly<ApiObject>[]
}

/** Opens the objects of a folder for a plugin. */
export type OpenStaticObjects = (plugin: string, folder: string) => StaticObjects
