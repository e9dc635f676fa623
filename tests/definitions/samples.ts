/** Realistic objects of well-known projects, and ways to break a definition. */

export interface Sample {
  readonly apiVersion: string
  readonly kind: string
  readonly spec: object
}

export const samples: readonly Sample[] = [
  {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    spec: {
      secretName: 'shop-tls',
      dnsNames: ['shop.example.com'],
      duration: '2160h',
      privateKey: { algorithm: 'ECDSA', size: 256 },
      issuerRef: { name: 'letsencrypt', kind: 'ClusterIssuer' },
    },
  },
  {
    apiVersion: 'cert-manager.io/v1',
    kind: 'ClusterIssuer',
    spec: {
      acme: {
        server: 'https://acme.example.com/directory',
        privateKeySecretRef: { name: 'account' },
        solvers: [{ http01: { ingress: { class: 'nginx' } } }],
      },
    },
  },
  {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    spec: { selector: { matchLabels: { app: 'shop' } }, endpoints: [{ port: 'metrics', interval: '30s', targetPort: 9090 }] },
  },
  {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    spec: { groups: [{ name: 'shop', rules: [{ alert: 'Down', expr: 'up == 0', for: '5m', labels: { severity: 'page' } }] }] },
  },
  {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    spec: {
      project: 'default',
      source: { repoURL: 'https://git.example.com/shop', path: 'deploy', targetRevision: 'HEAD' },
      destination: { server: 'https://kubernetes.default.svc', namespace: 'shop' },
      syncPolicy: { automated: { prune: true } },
    },
  },
  {
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledObject',
    spec: {
      scaleTargetRef: { name: 'shop' },
      minReplicaCount: 1,
      triggers: [{ type: 'cron', metadata: { timezone: 'UTC', start: '0 6 * * *', end: '0 20 * * *', desiredReplicas: '5' } }],
    },
  },
  {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    spec: {
      parentRefs: [{ name: 'front' }],
      hostnames: ['shop.example.com'],
      rules: [{ matches: [{ path: { type: 'PathPrefix', value: '/' } }], backendRefs: [{ name: 'shop', port: 80 }] }],
    },
  },
  {
    apiVersion: 'serving.knative.dev/v1',
    kind: 'Service',
    spec: { template: { spec: { containers: [{ image: 'registry.example.com/shop:1' }] } } },
  },
  {
    apiVersion: 'networking.istio.io/v1beta1',
    kind: 'VirtualService',
    spec: { hosts: ['shop'], http: [{ route: [{ destination: { host: 'shop', subset: 'v2' }, weight: 10 }] }] },
  },
]

// biome-ignore lint/suspicious/noExplicitAny: manifests are modified member by member
type Manifest = any

const schemaOf = (manifest: Manifest) => manifest.spec.versions[0].schema.openAPIV3Schema

/** A name, a modification of a valid definition, and the path that the error names. */
export const broken: readonly (readonly [string, (manifest: Manifest) => void, string])[] = [
  ['another name', (m) => (m.metadata.name = 'others.example.com'), 'metadata.name'],
  ['no storage version', (m) => (m.spec.versions[0].storage = false), 'spec.versions'],
  ['an unknown scope', (m) => (m.spec.scope = 'Global'), 'spec.scope'],
  [
    'a member without a type',
    (m) => delete schemaOf(m).properties.spec.type,
    'spec.versions[0].schema.openAPIV3Schema.properties[spec].type',
  ],
  [
    'a pattern that is none',
    (m) => (schemaOf(m).properties.spec.properties.secretName.pattern = '('),
    'spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[secretName].pattern',
  ],
  [
    'a default that does not fit',
    (m) => (schemaOf(m).properties.spec.properties.secretName.default = 1),
    'spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[secretName].default',
  ],
  [
    'a rule that does not compile',
    (m) => (schemaOf(m).properties.spec['x-kubernetes-validations'] = [{ rule: 'self.nothing > 1' }]),
    'spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule',
  ],
]
