import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'
import { onResource } from '../targets.ts'

interface Service extends ApiObject {
  spec?: { externalIPs?: string[] }
}

/** Refuses new external IPs of services; updates may keep existing ones. */
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
