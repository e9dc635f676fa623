import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin } from './interfaces.ts'

/** The plugins of a server in execution order: all that mutate, then all that validate. */
export interface AdmissionChain {
  readonly plugins: readonly AdmissionPlugin[]
  admit(object: ApiObject | undefined, attributes: AdmissionAttributes, context: AdmissionContext): Promise<void>
  validate(object: DeepReadonly<ApiObject> | undefined, attributes: AdmissionAttributes, context: AdmissionContext): Promise<void>
}

/**
 * Composes plugins, first to last. A refusal is an ApiError thrown by the plugin and ends the request.
 *
 * @see API protocol specification, 5.10
 */
export function admissionChain(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  return {
    plugins,
    async admit(object, attributes, context) {
      for (const plugin of plugins) {
        if (plugin.admit !== undefined && plugin.handles(attributes)) await plugin.admit(object, attributes, context)
      }
    },
    async validate(object, attributes, context) {
      for (const plugin of plugins) {
        if (plugin.validate !== undefined && plugin.handles(attributes)) await plugin.validate(object, attributes, context)
      }
    },
  }
}
