import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'
import { randomPod } from './pods.ts'

const inNamespace = '/api/v1/namespaces/{ns}'
const quotas = `${inNamespace}/resourcequotas`
/** Time in which a quota reaches the plugin, in milliseconds. */
const settleMs = 400
const merge = { 'content-type': 'application/merge-patch+json' }

/** Quotas and limit ranges over the life of objects: what creations, updates, resizes and deletions change in the usage. */
export function generateQuotas(random: RandomChoices): Scenario {
  const steps: Step[] = []
  const hard = Object.fromEntries(Array.from({ length: 2 + random.below(4) }, () => [random.pick(names), random.pick(amounts)]))
  const spec = { hard, ...scope(random) }
  // The controller counts a new quota, and would undo a status that is written before.
  steps.push({ id: 'quota', method: 'POST', path: quotas, body: { json: { metadata: { name: 'q' }, spec } }, settleMs })
  const used = Object.fromEntries(Object.keys(hard).map((name) => [name, '0']))
  steps.push({
    id: 'status',
    method: 'PATCH',
    path: `${quotas}/q/status`,
    headers: merge,
    body: { json: { status: { hard, used } } },
    settleMs,
  })
  if (random.chance(35)) steps.push(limitRange(random))
  for (let i = 0; i < 12; i++) {
    steps.push(random.pick(changes)(random, i))
    if (random.chance(50)) steps.push({ id: `usage${i}`, method: 'GET', path: `${quotas}/q`, ...form(random) })
  }
  return { area: 'quotas', steps }
}

const names = [
  'pods',
  'count/pods',
  'requests.cpu',
  'limits.memory',
  'requests.memory',
  'services',
  'count/services',
  'services.nodeports',
  'services.loadbalancers',
  'configmaps',
  'secrets',
  'persistentvolumeclaims',
  'requests.storage',
  'gold.storageclass.storage.k8s.io/requests.storage',
  'gold.storageclass.storage.k8s.io/persistentvolumeclaims',
  'count/deployments.apps',
  'count/jobs.batch',
  'count/leases.coordination.k8s.io',
  'replicationcontrollers',
  'resourcequotas',
  'requests.ephemeral-storage',
  'hugepages-2Mi',
  'requests.hugepages-2Mi',
  'requests.example.com/gpu',
] // prettier-ignore
const amounts = ['0', '1', '2', '3', '1500m', '1Gi', '2Gi', '100']

function form(random: RandomChoices): Pick<Step, 'headers'> {
  return random.chance(25) ? { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } } : {}
}

function scope(random: RandomChoices): JsonObject {
  if (random.chance(65)) return {}
  const scopes = ['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'CrossNamespacePodAffinity']
  if (random.chance(50)) return { scopes: [random.pick(scopes)] }
  return { scopeSelector: { matchExpressions: [{ scopeName: random.pick(scopes), operator: 'Exists' }] } }
}

function limitRange(random: RandomChoices): Step {
  const limits = random.pick<JsonValue>([
    [{ type: 'Container', default: { cpu: '500m', memory: '100Mi' }, defaultRequest: { cpu: '100m' } }],
    [{ type: 'Container', max: { cpu: '1' }, min: { cpu: '100m' } }],
    [{ type: 'PersistentVolumeClaim', max: { storage: '2Gi' } }],
    [{ type: 'Pod', max: { cpu: '1', memory: '1Gi' }, maxLimitRequestRatio: { cpu: '2' } }],
  ])
  return {
    id: 'limits',
    method: 'POST',
    path: `${inNamespace}/limitranges`,
    body: { json: { metadata: { name: 'l' }, spec: { limits } } },
    settleMs,
  }
}

type Change = (random: RandomChoices, i: number) => Step

/** The name of what an earlier step may have made. Creations that fail because of their names are left to other areas: see D158. */
function name(random: RandomChoices, i: number): string {
  return `o${random.below(Math.max(i, 1))}`
}

function dry(random: RandomChoices): [string, string][] {
  return random.chance(12) ? [['dryRun', 'All']] : []
}

function pods(random: RandomChoices, i: number): Step {
  const spec = { ...(randomPod(random, 'resources') as JsonObject), ...(random.chance(25) ? { activeDeadlineSeconds: 5 } : {}) }
  return {
    id: `pod${i}`,
    method: 'POST',
    path: `${inNamespace}/pods`,
    query: dry(random),
    body: { json: { metadata: { name: `o${i}` }, spec } },
  }
}

/** A pod that has ended counts no more. */
function podEnds(random: RandomChoices, i: number): Step {
  const path = `${inNamespace}/pods/${name(random, i)}`
  switch (random.below(4)) {
    case 0:
      return { id: `end${i}`, method: 'DELETE', path, query: [['gracePeriodSeconds', random.pick(['0', '30'])]] }
    case 1: {
      const resources = { requests: { cpu: random.pick(['100m', '1', '2']) }, limits: { cpu: '2' } }
      const json = { spec: { containers: [{ name: 'main', resources }] } }
      return {
        id: `end${i}`,
        method: 'PATCH',
        path: `${path}/resize`,
        headers: { 'content-type': 'application/strategic-merge-patch+json' },
        body: { json },
      }
    }
    case 2:
      return {
        id: `end${i}`,
        method: 'PATCH',
        path,
        headers: merge,
        body: { json: { spec: { activeDeadlineSeconds: random.pick([3, 10]) } } },
      }
    default: {
      const phase = random.pick(['Succeeded', 'Failed', 'Running'])
      return { id: `end${i}`, method: 'PATCH', path: `${path}/status`, headers: merge, body: { json: { status: { phase } } } }
    }
  }
}

function services(random: RandomChoices, i: number): Step {
  const type = random.pick(['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'])
  const spec: JsonObject = {
    type,
    ports: Array.from({ length: 1 + random.below(2) }, (_, port) => ({ name: `p${port}`, port: 80 + port })),
    ...(type === 'ExternalName' ? { externalName: 'a.example' } : {}),
    ...(type === 'LoadBalancer' && random.chance(40) ? { allocateLoadBalancerNodePorts: false } : {}),
  }
  const path = `${inNamespace}/services`
  if (random.chance(45))
    return {
      id: `service${i}`,
      method: 'PATCH',
      path: `${path}/${name(random, i)}`,
      query: dry(random),
      headers: merge,
      body: { json: { spec } },
    }
  return {
    id: `service${i}`,
    method: 'POST',
    path,
    query: dry(random),
    body: { json: { metadata: { name: `o${i}` }, spec } },
  }
}

function claims(random: RandomChoices, i: number): Step {
  const storage = random.pick(['500Mi', '1Gi', '3Gi'])
  const path = `${inNamespace}/persistentvolumeclaims`
  const resources = { requests: { storage } }
  if (random.chance(35))
    return {
      id: `claim${i}`,
      method: 'PATCH',
      path: `${path}/${name(random, i)}`,
      headers: merge,
      body: { json: { spec: { resources } } },
    }
  const storageClassName = random.chance(60) ? { storageClassName: random.pick(['gold', 'iron', '']) } : {}
  const spec = { accessModes: ['ReadWriteOnce'], resources, ...storageClassName }
  return { id: `claim${i}`, method: 'POST', path, query: dry(random), body: { json: { metadata: { name: `o${i}` }, spec } } }
}

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const counted: readonly { readonly path: string; readonly json: JsonObject }[] = [
  { path: `${inNamespace}/configmaps`, json: {} },
  { path: `${inNamespace}/secrets`, json: {} },
  { path: '/apis/apps/v1/namespaces/{ns}/deployments', json: { spec: { selector: { matchLabels: { a: 'b' } }, template } } },
  {
    path: '/apis/batch/v1/namespaces/{ns}/jobs',
    json: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
  },
  { path: '/apis/coordination.k8s.io/v1/namespaces/{ns}/leases', json: {} },
  { path: `${inNamespace}/replicationcontrollers`, json: { spec: { selector: { a: 'b' }, template } } },
  { path: quotas, json: { spec: { hard: { pods: '1' } } } },
]

function objects(random: RandomChoices, i: number): Step {
  const { path, json } = random.pick(counted)
  return {
    id: `object${i}`,
    method: 'POST',
    path,
    query: dry(random),
    body: { json: { metadata: random.chance(85) ? { name: `o${i}` } : { generateName: 'g-{id}-' }, ...json } },
  }
}

function removals(random: RandomChoices, i: number): Step {
  const collections = [
    ...counted.slice(0, 6).map(({ path }) => path),
    `${inNamespace}/services`,
    `${inNamespace}/persistentvolumeclaims`,
  ]
  return {
    id: `remove${i}`,
    method: 'DELETE',
    path: `${random.pick(collections)}/${name(random, i)}`,
    query: random.chance(15) ? [['dryRun', 'All']] : [],
  }
}

function quotaChanges(random: RandomChoices, i: number): Step {
  const hard = { [random.pick(names)]: random.pick(amounts) }
  const json: JsonObject = random.chance(70) ? { spec: { hard } } : { spec: { scopes: ['BestEffort'] } }
  return { id: `quota${i}`, method: 'PATCH', path: `${quotas}/q`, headers: merge, body: { json }, settleMs }
}

const changes: readonly Change[] = [
  pods,
  pods,
  podEnds,
  podEnds,
  services,
  services,
  claims,
  claims,
  objects,
  objects,
  removals,
  removals,
  quotaChanges,
]
