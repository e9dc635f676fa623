/** Valid objects of kinds with validation beyond their types, by resource. */

type Json = Record<string, unknown>

const container = { name: 'c', image: 'i' }
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } }
const selector = { matchLabels: { a: 'b' } }

export const baseSpecs: Readonly<Record<string, Json>> = {
  pods: { spec: { containers: [container] } },
  services: { spec: { type: 'NodePort', ports: [{ port: 80 }], selector: { a: 'b' } } },
  configmaps: { data: { a: 'b' } },
  secrets: { data: { a: 'eA==' }, type: 'Opaque' },
  endpoints: { subsets: [] },
  podtemplates: { template },
  replicationcontrollers: { spec: { selector: { a: 'b' }, template } },
  limitranges: { spec: { limits: [] } },
  resourcequotas: { spec: { hard: { pods: '10' } } },
  persistentvolumeclaims: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  persistentvolumes: { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } },
  deployments: { spec: { selector, template } },
  replicasets: { spec: { selector, template } },
  daemonsets: { spec: { selector, template } },
  statefulsets: { spec: { selector, serviceName: 's', template } },
  jobs: { spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } } },
  cronjobs: {
    spec: {
      schedule: '* * * * *',
      jobTemplate: { spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } } },
    },
  },
  networkpolicies: { spec: { podSelector: {} } },
  ingresses: { spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } },
  horizontalpodautoscalers: {
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' } },
  },
  poddisruptionbudgets: { spec: { selector } },
  roles: { rules: [] },
  clusterroles: { rules: [] },
  rolebindings: { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }, subjects: [] },
  clusterrolebindings: { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' }, subjects: [] },
  endpointslices: { addressType: 'IPv4', endpoints: [], ports: [] },
  selfsubjectreviews: {},
  selfsubjectaccessreviews: { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } },
  subjectaccessreviews: { spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods' } } },
  selfsubjectrulesreviews: { spec: { namespace: 'default' } },
  tokenreviews: { spec: { token: 't' } },
  customresourcedefinitions: {
    metadata: { name: 'widgets.attacks.example' },
    spec: {
      group: 'attacks.example',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  },
}

/** Resources whose lists are all attacked in every encoding: those with the most rules. */
export const heavyResources: ReadonlySet<string> = new Set([
  'pods',
  'services',
  'deployments',
  'configmaps',
  'networkpolicies',
  'horizontalpodautoscalers',
  'ingresses',
  'customresourcedefinitions',
  'clusterroles',
  'resourcequotas',
  'validatingadmissionpolicies',
  'endpointslices',
])
