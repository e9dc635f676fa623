import type { Sample } from './index.ts'

const selector = { matchLabels: { app: 'web' } }

export const configuration: Readonly<Record<string, readonly Sample[]>> = {
  'v1/configmaps': [
    { data: { a: 'b' }, binaryData: { c: 'AAE=' } },
    { immutable: true, data: { a: 'b' } },
  ],
  'v1/secrets': [
    { type: 'Opaque', data: { a: 'Yg==' }, stringData: { c: 'd' } },
    { type: 'kubernetes.io/basic-auth', stringData: { username: 'u', password: 'p' } },
    { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '{"auths":{}}' } },
    { type: 'kubernetes.io/tls', stringData: { 'tls.crt': '', 'tls.key': '' } },
  ],
  'v1/namespaces': [{ metadata: { labels: { a: 'b' } }, spec: { finalizers: ['example.com/f'] } }],
  'v1/nodes': [
    {
      metadata: { labels: { disk: 'ssd' } },
      spec: {
        podCIDR: '10.1.0.0/24',
        podCIDRs: ['10.1.0.0/24'],
        providerID: 'p',
        unschedulable: true,
        taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }],
      },
      status: { capacity: { cpu: '4', memory: '8Gi' }, conditions: [{ type: 'Ready', status: 'True' }] },
    },
  ],
  'v1/serviceaccounts': [{ secrets: [{ name: 's' }], imagePullSecrets: [{ name: 'i' }], automountServiceAccountToken: false }],
  'v1/resourcequotas': [
    { spec: { hard: { pods: '10', 'requests.cpu': '4', 'count/configmaps': '5' }, scopes: ['NotTerminating'] } },
    {
      spec: {
        hard: { pods: '3' },
        scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] },
      },
    },
  ],
  'v1/limitranges': [
    {
      spec: {
        limits: [
          {
            type: 'Container',
            max: { cpu: '2' },
            min: { cpu: '100m' },
            default: { cpu: '500m' },
            defaultRequest: { cpu: '200m' },
            maxLimitRequestRatio: { cpu: '10' },
          },
          { type: 'Pod', max: { memory: '1Gi' } },
          { type: 'PersistentVolumeClaim', min: { storage: '1Gi' } },
        ],
      },
    },
  ],
  'v1/events': [
    {
      involvedObject: { kind: 'Pod', name: 'p', namespace: '{ns}' },
      reason: 'Started',
      message: 'm',
      type: 'Normal',
      source: { component: 'c' },
      count: 1,
      firstTimestamp: '2020-01-01T00:00:00Z',
      lastTimestamp: '2020-01-01T00:00:00Z',
    },
  ],
  'events.k8s.io/v1/events': [
    {
      eventTime: '2020-01-01T00:00:00.000000Z',
      reportingController: 'example.com/c',
      reportingInstance: 'i',
      action: 'a',
      reason: 'r',
      regarding: { kind: 'Pod', name: 'p', namespace: '{ns}' },
      note: 'n',
      type: 'Normal',
      series: { count: 2, lastObservedTime: '2020-01-01T00:00:00.000000Z' },
    },
  ],
  'coordination.k8s.io/v1/leases': [
    {
      spec: {
        holderIdentity: 'h',
        leaseDurationSeconds: 10,
        leaseTransitions: 1,
        acquireTime: '2020-01-01T00:00:00.000000Z',
        renewTime: '2020-01-01T00:00:00.000000Z',
      },
    },
  ],
  'node.k8s.io/v1/runtimeclasses': [
    {
      handler: 'runc',
      overhead: { podFixed: { cpu: '10m' } },
      scheduling: { nodeSelector: { a: 'b' }, tolerations: [{ key: 'k', operator: 'Exists' }] },
    },
  ],
  'scheduling.k8s.io/v1/priorityclasses': [{ value: 1000, description: 'd', preemptionPolicy: 'Never' }],
  'rbac.authorization.k8s.io/v1/roles': [
    { rules: [{ apiGroups: [''], resources: ['pods', 'pods/log'], verbs: ['get'], resourceNames: ['p'] }] },
  ],
  'rbac.authorization.k8s.io/v1/clusterroles': [
    {
      rules: [
        { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
        { nonResourceURLs: ['/x/*'], verbs: ['get'] },
      ],
    },
    { aggregationRule: { clusterRoleSelectors: [selector] } },
  ],
  'rbac.authorization.k8s.io/v1/rolebindings': [
    {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' },
        { kind: 'ServiceAccount', name: 's', namespace: 'n' },
      ],
    },
  ],
  'rbac.authorization.k8s.io/v1/clusterrolebindings': [
    {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'Group', name: 'g', apiGroup: 'rbac.authorization.k8s.io' }],
    },
  ],
  'admissionregistration.k8s.io/v1/mutatingwebhookconfigurations': [
    {
      webhooks: [
        {
          name: 'a.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          failurePolicy: 'Ignore',
          matchPolicy: 'Exact',
          reinvocationPolicy: 'IfNeeded',
          timeoutSeconds: 5,
          clientConfig: { url: 'https://webhook.example/x' },
          namespaceSelector: { matchLabels: { 'no-such-namespace': '{id}' } },
          objectSelector: selector,
          matchConditions: [{ name: 'c', expression: 'true' }],
          rules: [
            { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'], scope: 'Namespaced' },
          ],
        },
      ],
    },
  ],
  'admissionregistration.k8s.io/v1/validatingwebhookconfigurations': [
    {
      webhooks: [
        {
          name: 'a.example.com',
          admissionReviewVersions: ['v1', 'v1beta1'],
          sideEffects: 'NoneOnDryRun',
          clientConfig: { service: { namespace: 'n', name: 's', path: '/p', port: 443 } },
          namespaceSelector: { matchLabels: { 'no-such-namespace': '{id}' } },
          rules: [{ apiGroups: [''], apiVersions: ['*'], operations: ['*'], resources: ['pods/*'] }],
        },
      ],
    },
  ],
  'admissionregistration.k8s.io/v1/validatingadmissionpolicies': [
    {
      spec: {
        failurePolicy: 'Fail',
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        matchConstraints: {
          namespaceSelector: { matchLabels: { 'no-such-namespace': '{id}' } },
          resourceRules: [
            { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['deployments'] },
          ],
        },
        matchConditions: [{ name: 'c', expression: 'request.operation == "CREATE"' }],
        variables: [{ name: 'v', expression: 'object.spec.replicas' }],
        validations: [
          {
            expression: 'variables.v < 5',
            message: 'too many',
            reason: 'Invalid',
            messageExpression: '"too many: " + string(variables.v)',
          },
        ],
        auditAnnotations: [{ key: 'k', valueExpression: '"v"' }],
      },
    },
  ],
  'admissionregistration.k8s.io/v1/validatingadmissionpolicybindings': [
    {
      spec: {
        policyName: 'p-{id}',
        validationActions: ['Deny', 'Audit'],
        paramRef: { name: 'c', namespace: 'n', parameterNotFoundAction: 'Deny' },
        matchResources: { namespaceSelector: { matchLabels: { 'no-such-namespace': '{id}' } } },
      },
    },
  ],
  'flowcontrol.apiserver.k8s.io/v1/flowschemas': [
    {
      spec: {
        priorityLevelConfiguration: { name: 'workload-low' },
        matchingPrecedence: 5000,
        distinguisherMethod: { type: 'ByUser' },
        rules: [
          {
            subjects: [
              { kind: 'User', user: { name: 'nobody-{id}' } },
              { kind: 'ServiceAccount', serviceAccount: { name: 's', namespace: 'n' } },
            ],
            resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['n'] }],
            nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }],
          },
        ],
      },
    },
  ],
  'flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations': [
    {
      spec: {
        type: 'Limited',
        limited: {
          nominalConcurrencyShares: 1,
          lendablePercent: 10,
          borrowingLimitPercent: 20,
          limitResponse: { type: 'Queue', queuing: { queues: 4, handSize: 2, queueLengthLimit: 5 } },
        },
      },
    },
    { spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } } },
  ],
  'certificates.k8s.io/v1/certificatesigningrequests': [
    {
      spec: {
        signerName: 'example.com/signer',
        usages: ['client auth', 'digital signature'],
        expirationSeconds: 3600,
        request:
          'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIUU1IZ0NBUUF3RmpFVU1CSUdBMVVFQXd3TGMzbHpkR1Z0T201dlpHVXdXVEFUQmdjcWhrak9QUUlCQmdncQpoa2pPUFFNQkJ3TkNBQVNVb3JZCi0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=',
      },
    },
  ],
  'apiregistration.k8s.io/v1/apiservices': [],
}
