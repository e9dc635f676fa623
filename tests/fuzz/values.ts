import type { RandomChoices } from '@krmkit/base/random-choices'

/** Bodies: valid objects, mutations of them, and random bytes. */

export const bodies: readonly ((random: RandomChoices) => unknown)[] = [
  () => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } }),
  () => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data: { k: 'eA==' } }),
  () => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }], resources: { limits: { cpu: '1' } } }] },
  }),
  () => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's' },
    spec: { ports: [{ port: 80, targetPort: 'http' }], selector: { a: 'b' } },
  }),
  () => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  }),
  () => ({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'h' },
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { kind: 'Deployment', name: 'd' },
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }],
    },
  }),
  () => ({ apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 2 } }),
  () => ({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'e' },
    regarding: {},
    eventTime: '2020-01-01T00:00:00.000000Z',
    type: 'Normal',
  }),
  () => ({ apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }),
  () => ({ apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' }),
  (random) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: `n${random.below(50)}` } }),
  () => ({ data: { k: null, l: 'm' } }),
  () => [
    { op: 'add', path: '/data/k', value: 'x' },
    { op: 'test', path: '/metadata/name', value: 'a' },
  ],
  () => [{ op: 'move', from: '/metadata', path: '/data/x' }],
  () => ({ $patch: 'delete', metadata: { labels: { $patch: 'replace' } }, '$setElementOrder/finalizers': ['a'] }),
  () => ({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
  () => ({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
  }),
  () => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'x' },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
  }),
  () => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'l' },
    spec: { holderIdentity: 'h', leaseDurationSeconds: 10 },
  }),
  () => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'n' },
    spec: { podSelector: { matchLabels: { a: 'b' } }, ingress: [{ ports: [{ port: 80 }] }] },
  }),
  () => ({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q' },
    spec: { hard: { 'count/leases.coordination.k8s.io': '1k' } },
  }),
]

const oddValues: readonly unknown[] = [
  null,
  true,
  -1,
  1.5,
  1e300,
  '',
  'x',
  'x'.repeat(5000),
  [],
  {},
  [[[[]]]],
  { __proto__: null },
  { constructor: { prototype: {} } },
  '1Gi',
  '2020-01-01T00:00:00Z',
  '\u0000',
  '\ud800',
  [null],
  { '': '' },
  Number.MAX_SAFE_INTEGER + 1,
]

/** Mutates one random value of a JSON document. */
export function mutate(value: unknown, random: RandomChoices): unknown {
  if (typeof value !== 'object' || value === null) return random.pick(oddValues)
  if (Array.isArray(value)) {
    if (value.length === 0 || random.chance(20)) return [...value, random.pick(oddValues)]
    const at = random.below(value.length)
    return value.map((item, i) => (i === at ? mutate(item, random) : item))
  }
  const keys = Object.keys(value)
  const entries = Object.entries(value)
  if (keys.length === 0 || random.chance(15)) {
    const key = random.pick([
      'extra',
      '__proto__',
      'constructor',
      'metadata',
      'spec',
      'status',
      'finalizers',
      'labels',
      'ownerReferences',
      'managedFields',
      'resourceVersion',
      'x'.repeat(300),
    ])
    const made: Record<string, unknown> = Object.fromEntries(entries)
    Object.defineProperty(made, key, { value: random.pick(oddValues), enumerable: true, configurable: true, writable: true })
    return made
  }
  if (random.chance(10)) return Object.fromEntries(entries.filter(([key]) => key !== keys[0]))
  const chosen = random.pick(keys)
  return Object.fromEntries(entries.map(([key, item]) => [key, key === chosen ? mutate(item, random) : item]))
}

export function randomBody(random: RandomChoices): Uint8Array {
  if (random.chance(5)) return random.bytes(random.below(300))
  let value = random.pick(bodies)(random)
  for (let i = random.below(4); i > 0; i--) value = mutate(value, random)
  let text = JSON.stringify(value) ?? ''
  if (random.chance(10)) text = text.slice(0, random.below(text.length + 1))
  if (random.chance(5)) text = text.replace('{', '{"kind":"X","kind":"Y",')
  if (random.chance(2)) text = `${'['.repeat(20_000)}${text}`
  if (random.chance(2))
    text = `a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c]\n`
  const bytes = new TextEncoder().encode(text)
  if (random.chance(5) && bytes.length > 0) bytes[random.below(bytes.length)] = random.below(256)
  return bytes
}
