/** One object of every kind that lost a version between 1.22 and 1.32, as clients of the removed version create it. */

export interface MovedObject {
  /** The removed version. */
  readonly apiVersion: string
  readonly resource: string
  readonly namespace?: string
  /** Versions to read the object in later: the first one that a release serves. */
  readonly next: readonly string[]
  readonly body: Readonly<Record<string, unknown>> & { readonly kind: string; readonly metadata: { readonly name: string } }
}

function moved(
  apiVersion: string,
  [kind, resource]: readonly [string, string],
  {
    next = ['v1'],
    namespace,
    name = 'a',
    ...body
  }: { next?: readonly string[]; namespace?: string; name?: string } & Record<string, unknown>,
): MovedObject {
  const group = apiVersion.slice(0, apiVersion.indexOf('/'))
  return {
    apiVersion,
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    next: next.map((version) => (version.includes('/') ? version : `${group}/${version}`)),
    body: { apiVersion, kind, metadata: { name }, ...body },
  }
}

const namespace = 'default'
const hook = { name: 'a.example.com', clientConfig: { url: 'https://a.example.com/' }, rules: [] }
const rbac = 'rbac.authorization.k8s.io/v1beta1'
const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]
const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b' }] } }
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' }
const any = { rule: 'RunAsAny' }
const roleRef = (kind: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name: 'a' })
const subjects = [{ kind: 'User', name: 'bob', apiGroup: 'rbac.authorization.k8s.io' }]
const flow = 'flowcontrol.apiserver.k8s.io'
const shares = (member: string) => ({ type: 'Limited', limited: { [member]: 7, limitResponse: { type: 'Reject' } } })
const flowVersions = ['v1', 'v1beta3', 'v1beta2', 'v1beta1']

/** Created in 1.21, in the versions that 1.22 to 1.27 remove. */
export const movedObjects: readonly MovedObject[] = [
  moved('admissionregistration.k8s.io/v1beta1', ['MutatingWebhookConfiguration', 'mutatingwebhookconfigurations'], {
    webhooks: [hook],
  }),
  moved('admissionregistration.k8s.io/v1beta1', ['ValidatingWebhookConfiguration', 'validatingwebhookconfigurations'], {
    webhooks: [hook],
  }),
  moved('apiextensions.k8s.io/v1beta1', ['CustomResourceDefinition', 'customresourcedefinitions'], {
    name: 'widgets.shop.example.com',
    spec: { group: 'shop.example.com', version: 'v1', names: { plural: 'widgets', kind: 'Widget' } },
  }),
  moved('apiregistration.k8s.io/v1beta1', ['APIService', 'apiservices'], {
    name: 'v1.far.example.com',
    spec: {
      ...{ group: 'far.example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 },
      ...{ service: { namespace: 'default', name: 'far' }, insecureSkipTLSVerify: true },
    },
  }),
  moved('coordination.k8s.io/v1beta1', ['Lease', 'leases'], { namespace, spec: { holderIdentity: 'me' } }),
  moved('extensions/v1beta1', ['Ingress', 'ingresses'], {
    namespace,
    next: ['networking.k8s.io/v1'],
    spec: { backend: { serviceName: 'web', servicePort: 80 } },
  }),
  moved('networking.k8s.io/v1beta1', ['Ingress', 'ingresses'], {
    namespace,
    name: 'b',
    spec: { backend: { serviceName: 'web', servicePort: 'http' } },
  }),
  moved('networking.k8s.io/v1beta1', ['IngressClass', 'ingressclasses'], { spec: { controller: 'example.com/a' } }),
  moved(rbac, ['ClusterRole', 'clusterroles'], { rules }),
  moved(rbac, ['ClusterRoleBinding', 'clusterrolebindings'], { roleRef: roleRef('ClusterRole'), subjects }),
  moved(rbac, ['Role', 'roles'], { namespace, rules }),
  moved(rbac, ['RoleBinding', 'rolebindings'], { namespace, roleRef: roleRef('Role'), subjects }),
  moved('scheduling.k8s.io/v1beta1', ['PriorityClass', 'priorityclasses'], { value: 5 }),
  moved('storage.k8s.io/v1beta1', ['CSIDriver', 'csidrivers'], { spec: {} }),
  moved('storage.k8s.io/v1beta1', ['CSINode', 'csinodes'], { spec: { drivers: [] } }),
  moved('storage.k8s.io/v1beta1', ['StorageClass', 'storageclasses'], { provisioner: 'example.com/a' }),
  moved('storage.k8s.io/v1beta1', ['VolumeAttachment', 'volumeattachments'], {
    spec: { attacher: 'example.com', nodeName: 'a', source: { persistentVolumeName: 'a' } },
  }),
  moved('storage.k8s.io/v1beta1', ['CSIStorageCapacity', 'csistoragecapacities'], {
    namespace,
    next: ['v1', 'v1beta1'],
    storageClassName: 'a',
  }),
  moved('autoscaling/v2beta1', ['HorizontalPodAutoscaler', 'horizontalpodautoscalers'], {
    namespace,
    next: ['v2', 'v2beta2'],
    spec: { scaleTargetRef, maxReplicas: 3, metrics: [{ type: 'Pods', pods: { metricName: 'qps', targetAverageValue: '10' } }] },
  }),
  moved('autoscaling/v2beta2', ['HorizontalPodAutoscaler', 'horizontalpodautoscalers'], {
    namespace,
    name: 'b',
    next: ['v2', 'v2beta2'],
    spec: { scaleTargetRef, maxReplicas: 3 },
  }),
  moved('batch/v1beta1', ['CronJob', 'cronjobs'], {
    namespace,
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template } } },
  }),
  moved('discovery.k8s.io/v1beta1', ['EndpointSlice', 'endpointslices'], {
    namespace,
    addressType: 'IPv4',
    ports: [{ port: 80 }],
    endpoints: [{ addresses: ['10.1.2.3'], topology: { 'topology.kubernetes.io/zone': 'west' } }],
  }),
  moved('events.k8s.io/v1beta1', ['Event', 'events'], {
    namespace,
    regarding: { namespace },
    deprecatedCount: 2,
    note: 'n',
    type: 'Odd',
  }),
  moved('node.k8s.io/v1beta1', ['RuntimeClass', 'runtimeclasses'], { handler: 'runc' }),
  moved('policy/v1beta1', ['PodDisruptionBudget', 'poddisruptionbudgets'], {
    namespace,
    spec: { minAvailable: 1, selector: {} },
  }),
  moved('policy/v1beta1', ['PodSecurityPolicy', 'podsecuritypolicies'], {
    next: [],
    spec: { seLinux: any, runAsUser: any, fsGroup: any, supplementalGroups: any },
  }),
  moved(`${flow}/v1beta1`, ['PriorityLevelConfiguration', 'prioritylevelconfigurations'], {
    next: flowVersions,
    spec: shares('assuredConcurrencyShares'),
  }),
  moved(`${flow}/v1beta1`, ['FlowSchema', 'flowschemas'], {
    next: flowVersions,
    spec: { priorityLevelConfiguration: { name: 'a' } },
  }),
]
