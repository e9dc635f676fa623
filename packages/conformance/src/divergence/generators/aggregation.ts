import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'

const services = '/apis/apiregistration.k8s.io/v1/apiservices'
const group = '{id}.example.com'
const root = `/apis/${group}`
const path = `${services}/v1.${group}`
/** Time in which an APIService is in effect and its condition is set, in milliseconds. */
const settleMs = 1500
const merge = { 'content-type': 'application/merge-patch+json' }

/** APIServices whose backend is missing or does not answer: their conditions, requests to their groups, discovery, and changes. */
export function generateAggregation(random: RandomChoices): Scenario {
  const steps: Step[] = []
  if (random.chance(50)) steps.push(service(random))
  if (random.chance(30)) steps.push(slice(random))
  const spec = registration(random)
  const json = { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name: `v1.${group}` }, spec }
  steps.push({ id: 'register', method: 'POST', path: services, body: { json }, settleMs })
  steps.push({ id: 'condition', method: 'GET', path, headers: random.chance(50) ? table : {} })
  for (let i = 0; i < 9; i++) steps.push(step(random, i))
  return { area: 'aggregation', steps }
}

const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }

function service(random: RandomChoices): Step {
  const spec = random.pick<JsonObject>([
    { ports: [{ port: 443 }] },
    { ports: [{ port: 8443 }] },
    { ports: [{ port: 443, protocol: 'UDP' }] },
    { clusterIP: 'None', ports: [{ port: 443 }] },
    { type: 'ExternalName', externalName: 'nowhere.invalid' },
  ])
  return {
    id: 'service',
    method: 'POST',
    path: '/api/v1/namespaces/{ns}/services',
    body: { json: { metadata: { name: 'backend' }, spec } },
  }
}

function slice(random: RandomChoices): Step {
  const ready = random.chance(50)
  const json = {
    addressType: 'IPv4',
    metadata: { name: 'backend-1', labels: { 'kubernetes.io/service-name': 'backend' } },
    endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready } }],
    ports: [{ name: '', port: 443 }],
  }
  return { id: 'slice', method: 'POST', path: '/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices', body: { json } }
}

function registration(random: RandomChoices): JsonObject {
  const backend = random.chance(85)
    ? {
        service: {
          name: random.pick(['backend', 'none']),
          namespace: '{ns}',
          ...(random.chance(30) ? { port: random.pick([443, 8443]) } : {}),
        },
      }
    : {}
  const trust: JsonObject = random.chance(50) && 'service' in backend ? { insecureSkipTLSVerify: true } : {}
  return {
    group,
    version: 'v1',
    groupPriorityMinimum: random.pick([100, 1000]),
    versionPriority: random.pick([1, 100]),
    ...backend,
    ...trust,
  }
}

const targets = [
  root,
  `${root}/v1`,
  `${root}/v1/`,
  `${root}/v2`,
  `${root}/v1/things`,
  `${root}/v1/namespaces/{ns}/things/a`,
  `${root}/v1/namespaces/{ns}/things/a/status`,
  `/openapi/v3${root}/v1`,
]

function step(random: RandomChoices, i: number): Step {
  const id = `s${i}`
  switch (random.below(8)) {
    case 0:
      return { id, method: 'GET', path, headers: random.chance(40) ? table : {} }
    case 1: {
      const change = random.pick<JsonObject>([
        { spec: { versionPriority: 5 } },
        { spec: { service: null } },
        { spec: { service: { name: 'other', namespace: '{ns}' } } },
        { spec: { insecureSkipTLSVerify: true } },
        { spec: { caBundle: 'YQ==' } },
        { spec: { group: 'other.example.com' } },
        { metadata: { labels: { a: 'b' } } },
      ])
      return { id, method: 'PATCH', path, headers: merge, query: [['dryRun', 'All']], body: { json: change } }
    }
    case 2: {
      const conditions: JsonValue = [
        { type: random.pick(['Available', 'Other']), status: 'True', reason: 'r', lastTransitionTime: '2020-01-01T00:00:00Z' },
      ]
      return {
        id,
        method: 'PATCH',
        path: `${path}/status`,
        headers: merge,
        query: [['dryRun', 'All']],
        body: { json: { status: { conditions } } },
      }
    }
    case 3:
      return { id, method: random.pick(['POST', 'PUT', 'PATCH', 'DELETE']), path: random.pick(targets), body: { json: { a: 1 } } }
    case 4:
      return { id, as: random.pick(['alice', 'anonymous']), method: 'GET', path: random.pick(targets) }
    default:
      return {
        id,
        method: 'GET',
        path: random.pick(targets),
        ...(random.chance(30) ? { headers: { accept: random.pick(forms) } } : {}),
      }
  }
}

const forms = [
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'text/plain',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
]
