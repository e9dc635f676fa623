import { type ResourceDefinition, runPreparation } from '@krmkit/kinds'
import { type ApiObject, type JsonObject, stockProfile } from '@krmkit/meta'
import { applyDefaults } from '@krmkit/schema'

/**
 * Applies the defaults of the type and of the kind, as a server does when it decodes an object. May modify its argument.
 *
 * @example
 * import { OfflineKinds, withDefaults } from 'krmkit/validate'
 * const found = new OfflineKinds({ release: '1.33' }).find({ group: '', version: 'v1', kind: 'Service' })
 * if (found.kind === 'found') withDefaults(found.definition, { apiVersion: 'v1', kind: 'Service', spec: {} }) // with type ClusterIP
 */
export function withDefaults({ kind, strategy }: ResourceDefinition, object: JsonObject): ApiObject {
  const filled = applyDefaults(kind.type(), object) as unknown as ApiObject
  runPreparation(strategy.defaults?.(filled, kind.version, stockProfile))
  return filled
}
