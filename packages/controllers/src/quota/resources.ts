import type { ResourceQuota } from '@krmkit/admission/quota'
import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'

/** The resources that the controller of quotas looks at by name. */

export const quotas = resourceType<ResourceQuota>({ group: '', version: 'v1', resource: 'resourcequotas', kind: 'ResourceQuota' })

function core(resource: string, kind: string) {
  return resourceType<ApiObject>({ group: '', version: 'v1', resource, kind })
}

/** Those whose objects cost more or less as they change; of all others only the number counts. */
export const meteredResources = [
  core('pods', 'Pod'),
  core('services', 'Service'),
  core('persistentvolumeclaims', 'PersistentVolumeClaim'),
] as const
