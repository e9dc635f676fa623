import type { Sample } from './index.ts'

const container = { name: 'main', image: 'registry.example/app:1' }
const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [container] } }
const selector = { matchLabels: labels }

const richPod = {
  containers: [
    {
      name: 'main',
      image: 'app:1',
      command: ['run'],
      args: ['$(A)'],
      workingDir: '/work',
      ports: [
        { name: 'http', containerPort: 8080, protocol: 'TCP' },
        { containerPort: 53, protocol: 'UDP', hostPort: 1053 },
      ],
      env: [
        { name: 'A', value: 'b' },
        { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'S', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: true } } },
      ],
      envFrom: [{ prefix: 'P_', configMapRef: { name: 'c' } }],
      resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '1', memory: '128Mi' } },
      volumeMounts: [
        { name: 'data', mountPath: '/data', subPath: 'x' },
        { name: 'config', mountPath: '/etc/config', readOnly: true },
      ],
      livenessProbe: { httpGet: { path: '/live', port: 'http', httpHeaders: [{ name: 'X-A', value: 'b' }] }, periodSeconds: 5 },
      readinessProbe: { tcpSocket: { port: 8080 }, failureThreshold: 2 },
      startupProbe: { exec: { command: ['true'] } },
      lifecycle: { preStop: { exec: { command: ['sleep', '1'] } } },
      securityContext: {
        runAsUser: 1000,
        runAsNonRoot: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] },
      },
      imagePullPolicy: 'IfNotPresent',
      terminationMessagePolicy: 'File',
      resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }],
    },
  ],
  initContainers: [
    { name: 'init', image: 'init:1', restartPolicy: 'Always' },
    { name: 'second', image: 'init:2' },
  ],
  volumes: [
    { name: 'data', emptyDir: { sizeLimit: '1Gi' } },
    { name: 'config', configMap: { name: 'c', items: [{ key: 'a', path: 'b/c' }], defaultMode: 420 } },
    {
      name: 'token',
      projected: {
        sources: [
          { serviceAccountToken: { path: 't', expirationSeconds: 3600 } },
          { downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        ],
      },
    },
    { name: 'claim', persistentVolumeClaim: { claimName: 'p' } },
    { name: 'host', hostPath: { path: '/var', type: 'Directory' } },
  ],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 10,
  dnsPolicy: 'None',
  dnsConfig: { nameservers: ['1.2.3.4'], searches: ['a.b'], options: [{ name: 'ndots', value: '2' }] },
  hostAliases: [{ ip: '1.2.3.4', hostnames: ['a.b'] }],
  nodeSelector: { disk: 'ssd' },
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }],
      },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] } },
      ],
    },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: labels } },
      ],
    },
  },
  tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }],
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: labels } },
  ],
  securityContext: {
    runAsUser: 1000,
    fsGroup: 2000,
    supplementalGroups: [1],
    sysctls: [{ name: 'net.a', value: '1' }],
    seccompProfile: { type: 'RuntimeDefault' },
  },
  schedulerName: 'custom',
  hostname: 'h',
  subdomain: 's',
  readinessGates: [{ conditionType: 'example.com/ready' }],
}

export const workloads: Readonly<Record<string, readonly Sample[]>> = {
  'v1/pods': [{ spec: { containers: [container] } }, { metadata: { labels, annotations: { a: 'b' } }, spec: richPod }],
  'v1/podtemplates': [{ template }],
  'v1/replicationcontrollers': [{ spec: { replicas: 2, selector: labels, template } }],
  'apps/v1/deployments': [
    { spec: { selector, template } },
    {
      metadata: { labels },
      spec: {
        replicas: 3,
        minReadySeconds: 1,
        revisionHistoryLimit: 2,
        progressDeadlineSeconds: 100,
        paused: true,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
        selector: { matchLabels: labels, matchExpressions: [{ key: 'app', operator: 'Exists' }] },
        template: { metadata: { labels }, spec: richPod },
      },
    },
  ],
  'apps/v1/replicasets': [{ spec: { replicas: 1, minReadySeconds: 2, selector, template } }],
  'apps/v1/statefulsets': [
    {
      spec: {
        serviceName: 'web',
        replicas: 2,
        podManagementPolicy: 'Parallel',
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1, maxUnavailable: 1 } },
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
        ordinals: { start: 1 },
        selector,
        template,
        volumeClaimTemplates: [
          { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
        ],
      },
    },
  ],
  'apps/v1/daemonsets': [
    {
      spec: {
        selector,
        template,
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
        revisionHistoryLimit: 1,
      },
    },
  ],
  'apps/v1/controllerrevisions': [{ revision: 1, data: { a: 1 } }],
  'batch/v1/jobs': [
    { spec: { template: { spec: { containers: [container], restartPolicy: 'Never' } } } },
    {
      spec: {
        parallelism: 2,
        completions: 3,
        completionMode: 'Indexed',
        backoffLimitPerIndex: 1,
        maxFailedIndexes: 1,
        activeDeadlineSeconds: 10,
        ttlSecondsAfterFinished: 5,
        suspend: true,
        podReplacementPolicy: 'Failed',
        podFailurePolicy: {
          rules: [
            { action: 'FailJob', onExitCodes: { containerName: 'main', operator: 'In', values: [1, 2] } },
            { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
          ],
        },
        successPolicy: { rules: [{ succeededIndexes: '0-1', succeededCount: 1 }] },
        template: { spec: { containers: [container], restartPolicy: 'Never' } },
      },
    },
  ],
  'batch/v1/cronjobs': [
    {
      spec: {
        schedule: '*/5 * * * *',
        timeZone: 'Etc/UTC',
        concurrencyPolicy: 'Forbid',
        startingDeadlineSeconds: 10,
        suspend: false,
        successfulJobsHistoryLimit: 1,
        failedJobsHistoryLimit: 2,
        jobTemplate: {
          metadata: { labels },
          spec: { template: { spec: { containers: [container], restartPolicy: 'OnFailure' } } },
        },
      },
    },
  ],
  'policy/v1/poddisruptionbudgets': [
    { spec: { minAvailable: 1, selector, unhealthyPodEvictionPolicy: 'AlwaysAllow' } },
    { spec: { maxUnavailable: '50%', selector } },
  ],
  'autoscaling/v1/horizontalpodautoscalers': [
    {
      spec: {
        scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' },
        minReplicas: 1,
        maxReplicas: 3,
        targetCPUUtilizationPercentage: 50,
      },
    },
  ],
  'autoscaling/v2/horizontalpodautoscalers': [
    {
      spec: {
        scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' },
        minReplicas: 1,
        maxReplicas: 3,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
          { type: 'Pods', pods: { metric: { name: 'm', selector }, target: { type: 'AverageValue', averageValue: '1k' } } },
          {
            type: 'Object',
            object: {
              describedObject: { kind: 'Service', name: 's' },
              metric: { name: 'o' },
              target: { type: 'Value', value: '10' },
            },
          },
          { type: 'External', external: { metric: { name: 'e' }, target: { type: 'Value', value: '10' } } },
          {
            type: 'ContainerResource',
            containerResource: { name: 'cpu', container: 'main', target: { type: 'Utilization', averageUtilization: 1 } },
          },
        ],
        behavior: {
          scaleDown: {
            stabilizationWindowSeconds: 10,
            selectPolicy: 'Min',
            policies: [{ type: 'Pods', value: 1, periodSeconds: 10 }],
          },
        },
      },
    },
  ],
}
