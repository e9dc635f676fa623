import type { ResourceQuota } from '@krmkit/admission/quota'
import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'

/** The resources that the quota controller uses by name. */

export const quotas = resourceType<ResourceQuota>({ group: '', version: 'v1', resource: 'resourcequotas', kind: 'ResourceQuota' })

function core(resource: string, kind: string) {
  return resourceType<ApiObject>({ group: '', version: 'v1', resource, kind })
}

/** Resources whose usage depends on the content of the objects; objects of other resources are only counted. */
export const meteredResources = [
  core('pods', 'Pod'),
  core('services', 'Service'),
  core('persistentvolumeclaims', 'PersistentVolumeClaim'),
] as const
