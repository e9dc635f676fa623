import type {
  CoreV1Event,
  KubernetesObject,
  V1ClusterRole,
  V1ConfigMap,
  V1CronJob,
  V1CSIDriver,
  V1DaemonSet,
  V1Deployment,
  V1EndpointSlice,
  V1Ingress,
  V1Job,
  V1Lease,
  V1LimitRange,
  V1Namespace,
  V1NetworkPolicy,
  V1Node,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
  V1PodTemplateSpec,
  V1PriorityClass,
  V1ResourceQuota,
  V1Role,
  V1RoleBinding,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1StatefulSet,
  V1StorageClass,
  V1VolumeAttachment,
  V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node'

/** Objects of thirty kinds in the types of the stock client, with members of every type and canonical quantities. */

const labels = { app: 'web' }
const namespace = 'default'
const metadata = (name: string) => ({ name, namespace, labels, annotations: { 'example.com/note': 'ü "quoted"\nlines' } })
const global = (name: string) => ({ name, labels })
const selector = { matchLabels: labels, matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['old', 'new'] }] }

const template: V1PodTemplateSpec = {
  metadata: { labels, annotations: { a: 'b' } },
  spec: {
    serviceAccountName: 'default',
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 5,
    securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 2000, seccompProfile: { type: 'RuntimeDefault' } },
    nodeSelector: { disk: 'fast' },
    tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'web', effect: 'NoExecute', tolerationSeconds: 60 }],
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 50, podAffinityTerm: { topologyKey: 'zone', labelSelector: { matchLabels: labels } } },
        ],
      },
    },
    initContainers: [{ name: 'init', image: 'init:1', command: ['true'] }],
    containers: [
      {
        name: 'web',
        image: 'web:1',
        args: ['--port', '80'],
        ports: [{ name: 'http', containerPort: 80, protocol: 'TCP' }],
        env: [
          { name: 'A', value: '1' },
          { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'SECRET', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: true } } },
        ],
        resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '1500m', memory: '1Gi' } },
        readinessProbe: {
          httpGet: { path: '/ready', port: 'http', httpHeaders: [{ name: 'X-A', value: 'b' }] },
          periodSeconds: 5,
        },
        livenessProbe: { exec: { command: ['alive'] }, initialDelaySeconds: 3 },
        lifecycle: { preStop: { exec: { command: ['sleep', '1'] } } },
        securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        volumeMounts: [{ name: 'config', mountPath: '/etc/web', readOnly: true }],
      },
    ],
    volumes: [
      { name: 'config', configMap: { name: 'c', items: [{ key: 'k', path: 'p', mode: 256 }], optional: true } },
      { name: 'all', projected: { sources: [{ secret: { name: 's' } }, { serviceAccountToken: { path: 't', audience: 'a' } }] } },
      { name: 'scratch', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } },
    ],
  },
}
const jobTemplate: V1PodTemplateSpec = {
  ...template,
  metadata: { labels: { job: 'j' } },
  spec: { ...template.spec!, restartPolicy: 'Never' },
}

const core = { apiVersion: 'v1' }
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'fast' }

export const typedObjects: readonly (KubernetesObject & { readonly kind: string; readonly [member: string]: unknown })[] = [
  { ...core, kind: 'Namespace', metadata: global('typed') } satisfies V1Namespace,
  {
    ...core,
    kind: 'Node',
    metadata: global('typed-node'),
    spec: { podCIDR: '10.1.0.0/24', taints: [{ key: 'a', value: 'b', effect: 'NoSchedule' }] },
  } satisfies V1Node,
  {
    ...core,
    kind: 'ConfigMap',
    metadata: metadata('m'),
    data: { a: '1', 'b.txt': 'x\n' },
    binaryData: { raw: '/wAB' },
    immutable: true,
  } satisfies V1ConfigMap,
  {
    ...core,
    kind: 'Secret',
    metadata: metadata('s'),
    type: 'kubernetes.io/basic-auth',
    data: { username: 'YQ==', password: 'Yg==' },
  } satisfies V1Secret,
  {
    ...core,
    kind: 'ServiceAccount',
    metadata: metadata('sa'),
    imagePullSecrets: [{ name: 'p' }],
    automountServiceAccountToken: false,
  } satisfies V1ServiceAccount,
  {
    ...core,
    kind: 'Service',
    metadata: metadata('svc'),
    spec: {
      type: 'NodePort',
      selector: labels,
      sessionAffinity: 'ClientIP',
      ports: [
        { name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' },
        { name: 'n', port: 81, targetPort: 8081 },
      ],
    },
  } satisfies V1Service,
  { ...core, kind: 'Pod', metadata: metadata('p'), spec: template.spec! } satisfies V1Pod,
  {
    ...core,
    kind: 'PersistentVolume',
    metadata: global('typed-v'),
    spec: {
      capacity: { storage: '5Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: 'fast',
      mountOptions: ['ro'],
      csi: {
        driver: 'd.example.com',
        volumeHandle: 'h',
        volumeAttributes: { a: 'b' },
        nodeStageSecretRef: { name: 's', namespace },
      },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }] } },
    },
  } satisfies V1PersistentVolume,
  {
    ...core,
    kind: 'PersistentVolumeClaim',
    metadata: metadata('c'),
    spec: { ...claimSpec, selector },
  } satisfies V1PersistentVolumeClaim,
  {
    ...core,
    kind: 'LimitRange',
    metadata: metadata('l'),
    spec: { limits: [{ type: 'Container', max: { cpu: '4' }, _default: { cpu: '2' }, defaultRequest: { cpu: '500m' } }] },
  } satisfies V1LimitRange,
  {
    ...core,
    kind: 'ResourceQuota',
    metadata: metadata('q'),
    spec: { hard: { pods: '100', 'requests.cpu': '10' }, scopes: ['NotTerminating'] },
  } satisfies V1ResourceQuota,
  {
    ...core,
    kind: 'Event',
    metadata: { ...metadata('e') },
    involvedObject: { kind: 'Pod', name: 'p', namespace },
    reason: 'Started',
    message: 'm',
    type: 'Normal',
    count: 3,
    source: { component: 'test' },
  } satisfies CoreV1Event,
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadata('d'),
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
      minReadySeconds: 1,
    },
  } satisfies V1Deployment,
  {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: metadata('ss'),
    spec: {
      serviceName: 'svc',
      replicas: 1,
      selector: { matchLabels: labels },
      template,
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec }],
    },
  } satisfies V1StatefulSet,
  {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: metadata('ds'),
    spec: { selector: { matchLabels: labels }, template, updateStrategy: { type: 'OnDelete' } },
  } satisfies V1DaemonSet,
  {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: metadata('j'),
    spec: {
      completions: 3,
      parallelism: 2,
      completionMode: 'Indexed',
      backoffLimit: 1,
      ttlSecondsAfterFinished: 60,
      template: jobTemplate,
    },
  } satisfies V1Job,
  {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: metadata('cj'),
    spec: {
      schedule: '*/5 * * * *',
      timeZone: 'Etc/UTC',
      concurrencyPolicy: 'Forbid',
      suspend: true,
      jobTemplate: { spec: { template: jobTemplate } },
    },
  } satisfies V1CronJob,
  {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: metadata('h'),
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      minReplicas: 2,
      maxReplicas: 9,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
        {
          type: 'External',
          external: {
            metric: { name: 'queue', selector: { matchLabels: labels } },
            target: { type: 'AverageValue', averageValue: '30' },
          },
        },
      ],
      behavior: { scaleDown: { stabilizationWindowSeconds: 60, policies: [{ type: 'Pods', value: 1, periodSeconds: 15 }] } },
    },
  } satisfies V2HorizontalPodAutoscaler,
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: metadata('budget'),
    spec: { minAvailable: '50%', selector, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
  } satisfies V1PodDisruptionBudget,
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: metadata('i'),
    spec: {
      ingressClassName: 'nginx',
      tls: [{ hosts: ['a.example.com'], secretName: 's' }],
      rules: [
        {
          host: 'a.example.com',
          http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'svc', port: { name: 'http' } } } }] },
        },
      ],
    },
  } satisfies V1Ingress,
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: metadata('np'),
    spec: {
      podSelector: selector,
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        {
          _from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }, { namespaceSelector: {} }],
          ports: [{ port: 80, endPort: 90, protocol: 'TCP' }],
        },
      ],
      egress: [{}],
    },
  } satisfies V1NetworkPolicy,
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: metadata('r'),
    rules: [{ apiGroups: [''], resources: ['pods', 'pods/log'], verbs: ['get'], resourceNames: ['p'] }],
  } satisfies V1Role,
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: global('typed-cr'),
    rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
  } satisfies V1ClusterRole,
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: metadata('rb'),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
    subjects: [
      { kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' },
      { kind: 'ServiceAccount', name: 'sa', namespace },
    ],
  } satisfies V1RoleBinding,
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: global('typed-sc'),
    provisioner: 'd.example.com',
    parameters: { type: 'ssd' },
    allowVolumeExpansion: true,
    volumeBindingMode: 'WaitForFirstConsumer',
    allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a', 'b'] }] }],
  } satisfies V1StorageClass,
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: global('typed.example.com'),
    spec: {
      attachRequired: false,
      podInfoOnMount: true,
      volumeLifecycleModes: ['Ephemeral'],
      tokenRequests: [{ audience: 'a', expirationSeconds: 3600 }],
    },
  } satisfies V1CSIDriver,
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: global('typed-va'),
    spec: { attacher: 'd.example.com', nodeName: 'n', source: { persistentVolumeName: 'typed-v' } },
  } satisfies V1VolumeAttachment,
  {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: global('typed-pc'),
    value: 1000,
    preemptionPolicy: 'Never',
    description: 'd',
  } satisfies V1PriorityClass,
  {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: metadata('le'),
    spec: { holderIdentity: 'me', leaseDurationSeconds: 15, leaseTransitions: 2 },
  } satisfies V1Lease,
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...metadata('es'), labels: { 'kubernetes.io/service-name': 'svc' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.2.3'], conditions: { ready: true }, nodeName: 'n', zone: 'a' }],
    ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
  } satisfies V1EndpointSlice,
]
