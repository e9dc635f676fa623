import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'
import { onResource } from '../targets.ts'

interface Service extends ApiObject {
  spec?: { externalIPs?: string[] }
}

/**
 * Refuses new external IPs of services; updates may keep existing ones.
 *
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { denyServiceExternalIPs } from '@krmkit/admission/plugins'
 *
 * const kind = { group: '', version: 'v1', kind: 'Service' }
 * const resource = { group: '', version: 'v1', resource: 'services' }
 * const spec = { externalIPs: ['203.0.113.7'] }
 * const object = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'shop' }, spec }
 * const { status } = await admit({ kind, resource, object }, [denyServiceExternalIPs()], new ObjectSet())
 * status?.message // 'services "web" is forbidden: Use of external IPs is denied by admission control.'
 * ```
 */
export function denyServiceExternalIPs(): AdmissionPlugin {
  return {
    name: 'DenyServiceExternalIPs',
    handles: onResource('', 'services', ['CREATE', 'UPDATE']),
    validate(object, attributes) {
      const known = new Set((attributes.oldObject as DeepReadonly<Service> | undefined)?.spec?.externalIPs ?? [])
      const service = object as DeepReadonly<Service>
      if ((service.spec?.externalIPs ?? []).every((address) => known.has(address))) return
      throw forbidden(attributes, service, 'Use of external IPs is denied by admission control.')
    },
  }
}
