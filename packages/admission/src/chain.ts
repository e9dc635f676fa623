import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { drafted } from './draft.ts'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin } from './interfaces.ts'

/** The plugins of a server in execution order: all that mutate, then all that validate. */
export interface AdmissionChain {
  readonly plugins: readonly AdmissionPlugin[]
  /** @returns the object as the plugins want it; the argument is not changed. */
  admit<T extends ApiObject | undefined>(object: T, attributes: AdmissionAttributes, context: AdmissionContext): Promise<T>
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
      let admitted = object
      for (const plugin of plugins) {
        if (!plugin.handles(attributes)) continue
        await plugin.check?.(attributes, context)
        if (plugin.admit === undefined || admitted === undefined) continue
        admitted = await drafted(admitted, (draft) => plugin.admit?.(draft, attributes, context))
      }
      return admitted
    },
    async validate(object, attributes, context) {
      for (const plugin of plugins) {
        if (plugin.validate !== undefined && plugin.handles(attributes)) await plugin.validate(object, attributes, context)
      }
    },
  }
}
