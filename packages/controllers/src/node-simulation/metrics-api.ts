import { resourceType } from '@krmkit/client'
import type { ApiObject, NamingProfile } from '@krmkit/meta'

/** The registration of the API `metrics.k8s.io`. */

interface ApiService extends ApiObject {
  spec: object
}

const service = { namespace: 'kube-system', name: 'metrics-server' }
const group = 'metrics.k8s.io'
const version = 'v1beta1'

/** Service of the API, as `namespace/name`. */
export const metricsService = `${service.namespace}/${service.name}`

export function metricsApi({ apiDomain }: NamingProfile) {
  const resource = resourceType<ApiService>({
    group: `apiregistration.${apiDomain}`,
    version: 'v1',
    resource: 'apiservices',
    kind: 'APIService',
    namespaced: false,
  })
  const priorities = { groupPriorityMinimum: 100, versionPriority: 100 }
  const spec = { group, version, service, insecureSkipTLSVerify: true, ...priorities }
  return { resource, object: { metadata: { name: `${version}.${group}` }, spec } }
}
