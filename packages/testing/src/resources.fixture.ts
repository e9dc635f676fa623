import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'

/** Resources of the tests, with the fields that they use. */

export interface ConfigMap extends ApiObject {
  data?: Record<string, string>
}

export interface Namespace extends ApiObject {
  status?: { phase?: string; conditions?: { type: string; status: string; reason?: string }[] }
}

export const configMaps = resourceType<ConfigMap>({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })
export const secrets = resourceType({ group: '', version: 'v1', resource: 'secrets', kind: 'Secret' })
export const pods = resourceType({ group: '', version: 'v1', resource: 'pods', kind: 'Pod' })
export const serviceAccounts = resourceType({ group: '', version: 'v1', resource: 'serviceaccounts', kind: 'ServiceAccount' })
export const namespaces = resourceType<Namespace>({
  group: '',
  version: 'v1',
  resource: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
})
export const replicaSets = resourceType({ group: 'apps', version: 'v1', resource: 'replicasets', kind: 'ReplicaSet' })
export const deployments = resourceType({ group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment' })

/** Returns the names of the objects of a list. */
export function namesOf({ items }: { readonly items: readonly ApiObject[] }): string[] {
  return items.map(({ metadata }) => metadata.name ?? '')
}
