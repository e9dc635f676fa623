import { deployment, service, widget } from './templates.ts'

/** Valid manifests of common kinds. `NAME` is replaced. */
export const validManifests: readonly string[] = [
  deployment({
    pod: `      serviceAccountName: NAME
      securityContext:
        runAsNonRoot: true
      volumes:
      - name: config
        configMap:
          name: NAME
      - name: cache
        emptyDir: {sizeLimit: 1Gi}
`,
    container: `        ports:
        - name: http
          containerPort: 8080
        env:
        - name: LOG_LEVEL
          value: info
        - name: POD_NAME
          valueFrom:
            fieldRef:
              fieldPath: metadata.name
        envFrom:
        - secretRef:
            name: NAME
        resources:
          requests: {cpu: 100m, memory: 128Mi}
          limits: {memory: 256Mi}
        readinessProbe:
          httpGet: {path: /ready, port: http}
          periodSeconds: 5
        volumeMounts:
        - {name: config, mountPath: /etc/app, readOnly: true}
        - {name: cache, mountPath: /var/cache}
`,
  }),
  service('  type: LoadBalancer\n  ports:\n  - {name: http, port: 80, targetPort: http}\n  - {name: metrics, port: 9090}\n'),
  service('  clusterIP: None\n  ports:\n  - port: 5432\n'),
  `apiVersion: v1
kind: ConfigMap
metadata:
  name: NAME
  labels: {app.kubernetes.io/name: NAME, app.kubernetes.io/managed-by: Helm}
data:
  app.properties: |
    # comment: in a block
    a=b
  size: "3"
binaryData:
  blob: AAEC
`,
  'apiVersion: v1\nkind: Secret\nmetadata: {name: NAME}\ntype: Opaque\nstringData: {password: "hunter2"}\ndata: {token: YWJj}\n',
  `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: NAME}
spec:
  serviceName: NAME
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      containers: [{name: db, image: postgres:16, volumeMounts: [{name: data, mountPath: /data}]}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec:
      accessModes: [ReadWriteOnce]
      resources: {requests: {storage: 10Gi}}
`,
  `apiVersion: batch/v1
kind: CronJob
metadata: {name: NAME}
spec:
  schedule: "*/15 * * * *"
  timeZone: Europe/Berlin
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      backoffLimit: 2
      template:
        spec:
          restartPolicy: OnFailure
          containers: [{name: job, image: busybox, command: [sh, -c, "exit 0"]}]
`,
  `apiVersion: batch/v1
kind: Job
metadata: {generateName: NAME-}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: job, image: busybox}]
`,
  `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: NAME
  annotations: {nginx.ingress.kubernetes.io/rewrite-target: /}
spec:
  ingressClassName: nginx
  tls: [{hosts: [a.example.com], secretName: NAME}]
  rules:
  - host: a.example.com
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: NAME, port: {name: http}}}}
`,
  `apiVersion: v1
kind: ServiceAccount
metadata: {name: NAME}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: NAME}
rules:
- {apiGroups: ["", apps], resources: [pods, deployments], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: NAME}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: NAME}
subjects: [{kind: ServiceAccount, name: NAME, namespace: default}]
`,
  `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: NAME}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: NAME}
  minReplicas: 2
  maxReplicas: 10
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
---
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: NAME-old}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: NAME}
  maxReplicas: 10
  targetCPUUtilizationPercentage: 50
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: NAME}
spec:
  maxUnavailable: 25%
  selector: {matchLabels: {app: NAME}}
`,
  `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: NAME}
spec:
  podSelector: {matchLabels: {app: NAME}}
  policyTypes: [Ingress, Egress]
  ingress: [{from: [{namespaceSelector: {}}], ports: [{port: 80, protocol: TCP}]}]
  egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}]}]
`,
  `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: NAME}
spec:
  selector: {matchLabels: {app: NAME}}
  updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 10%}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      hostNetwork: true
      tolerations: [{operator: Exists}]
      containers:
      - name: agent
        image: agent:1
        securityContext: {privileged: true}
        ports: [{containerPort: 9100}]
`,
  `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: NAME}}
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: NAME}
  spec:
    accessModes: [ReadWriteOnce]
    storageClassName: fast
    resources: {requests: {storage: 1Gi}}
- apiVersion: v1
  kind: ResourceQuota
  metadata: {name: NAME}
  spec: {hard: {pods: "10", requests.cpu: "4"}}
- apiVersion: v1
  kind: LimitRange
  metadata: {name: NAME}
  spec: {limits: [{type: Container, default: {cpu: 100m}, max: {cpu: "1"}}]}
`,
  `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: NAME}
provisioner: example.com/disk
reclaimPolicy: Retain
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: NAME}
value: 1000
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: NAME}
spec: {holderIdentity: a, leaseDurationSeconds: 15, renewTime: 2024-01-02T03:04:05.000006Z}
`,
  `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: NAME}
webhooks:
- name: pods.example.com
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {service: {name: NAME, namespace: default, path: /validate}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
`,
  '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"NAME"},"spec":{"containers":[{"name":"a","image":"b"}]}}\n',
  widget('  size: 3\n  color: red\n  tags: [a, b]\n'),
]
