import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Agreement, Scenario, Step } from '../scenario.ts'
import { maybe } from './values.ts'

const root = '/apis/flowcontrol.apiserver.k8s.io/v1'
const schemas = `${root}/flowschemas`
const levels = `${root}/prioritylevelconfigurations`
/** Until the controller of kube-apiserver has used a change, in milliseconds. */
const settleMs = 250
const merge = { 'content-type': 'application/merge-patch+json' }
/** Their uids name the schemas and levels in the headers of later answers. */
const builtIns = [
  `${schemas}/catch-all`,
  `${schemas}/exempt`,
  `${schemas}/global-default`,
  `${schemas}/service-accounts`,
  `${schemas}/system-nodes`,
  `${levels}/catch-all`,
  `${levels}/exempt`,
  `${levels}/global-default`,
  `${levels}/system`,
  `${levels}/workload-low`,
]

/** Flow schemas and priority levels: their changes and status, and to which of them requests of other users belong. */
export function generateFairness(random: RandomChoices): Scenario {
  const steps: Step[] = builtIns.map((path, i) => ({ id: `built${i}`, method: 'GET', path }))
  const level = () => levelStep(random, 'level', 'POST')
  if (random.chance(80)) steps.push(level())
  for (let i = 0; i < 2; i++) steps.push(schemaStep(random, `schema${i}`, i))
  for (let i = 0; i < 14; i++) steps.push(step(random, `s${i}`))
  return { area: 'fairness', steps }
}

const schemaPath = (i: number) => `${schemas}/fs${i}-{id}`
const levelPath = `${levels}/pl-{id}`
const agreeOn = (path: string): { agree: Agreement; settleMs: number } => ({ agree: { path, member: 'status' }, settleMs })

function schemaStep(random: RandomChoices, id: string, i: number): Step {
  const json = {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'FlowSchema',
    metadata: { name: `fs${i}-{id}` },
    spec: schemaSpec(random),
  }
  return { id, method: 'POST', path: schemas, query: query(random), body: { json }, ...agreeOn(schemaPath(i)) }
}

function schemaSpec(random: RandomChoices): JsonObject {
  return {
    priorityLevelConfiguration: {
      name: random.pick(['pl-{id}', 'pl-{id}', 'pl-{id}', 'missing-{id}', 'workload-low', 'exempt', 'catch-all']),
    },
    ...maybe(random, 90, () => ({ matchingPrecedence: random.pick([2, 100, 100, 900, 8000, 10_000, 1, 0, 10_001]) })),
    ...maybe(random, 60, () => ({ distinguisherMethod: random.pick([{ type: 'ByUser' }, { type: 'ByNamespace' }, null]) })),
    ...maybe(random, 95, () => ({ rules: Array.from({ length: random.pick([1, 1, 1, 2, 0]) }, () => rule(random)) })),
  }
}

function rule(random: RandomChoices): JsonObject {
  const resourceRule: JsonObject = {
    verbs: random.pick([['*'], ['get'], ['list', 'create'], ['watch'], []]),
    apiGroups: random.pick([['*'], [''], ['', 'apps'], ['apps']]),
    resources: random.pick([['*'], ['pods'], ['pods/status'], ['*/status'], ['configmaps', 'nodes']]),
    ...random.pick<JsonObject>([
      { namespaces: ['*'] },
      { namespaces: ['*'], clusterScope: true },
      { namespaces: ['{ns}'] },
      { namespaces: ['other'] },
      { clusterScope: true },
      {},
    ]),
  }
  const nonResourceRule: JsonObject = {
    verbs: random.pick([['*'], ['get'], ['post']]),
    nonResourceURLs: random.pick([['*'], ['/version'], ['/api', '/apis/*'], ['/foo/*'], ['foo'], ['/*/x']]),
  }
  return {
    subjects: Array.from({ length: random.pick([1, 1, 2, 0]) }, () => subject(random)),
    ...maybe(random, 80, () => ({ resourceRules: [resourceRule] })),
    ...maybe(random, 40, () => ({ nonResourceRules: [nonResourceRule] })),
  }
}

function subject(random: RandomChoices): JsonObject {
  return random.pick<JsonObject>([
    { kind: 'User', user: { name: 'u-{id}' } },
    { kind: 'User', user: { name: 'u-{id}' } },
    { kind: 'Group', group: { name: 'g-{id}' } },
    { kind: 'ServiceAccount', serviceAccount: { name: 's', namespace: '{ns}' } },
    { kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: '{ns}' } },
    { kind: 'User', group: { name: 'g-{id}' } },
    { kind: 'Group', user: { name: 'u-{id}' }, group: { name: 'g-{id}' } },
    { kind: 'Node', user: { name: 'n' } },
  ])
}

function levelStep(random: RandomChoices, id: string, method: 'POST' | 'PUT'): Step {
  const json = {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'PriorityLevelConfiguration',
    metadata: { name: 'pl-{id}' },
    spec: levelSpec(random),
  }
  const path = method === 'POST' ? levels : levelPath
  return { id, method, path, query: query(random), body: { json }, ...agreeOn(levelPath) }
}

function levelSpec(random: RandomChoices): JsonObject {
  const queuing: JsonValue = random.pick<JsonValue>([
    { queues: 8, handSize: 2, queueLengthLimit: 10 },
    { queues: 8 },
    { queues: 1, handSize: 1 },
    { queues: 4, handSize: 9 },
    { queues: 10_000_001, handSize: 8, queueLengthLimit: -1 },
    {},
    null,
  ])
  const limitResponse = random.pick<JsonObject>([
    { type: 'Reject' },
    { type: 'Queue', queuing },
    { type: 'Queue', queuing },
    { type: 'Reject', queuing },
    { type: 'Other' },
    {},
  ])
  const shares: JsonObject = {
    ...maybe(random, 70, () => ({ nominalConcurrencyShares: random.pick([0, 1, 30, -1, null]) })),
    ...maybe(random, 30, () => ({ lendablePercent: random.pick([0, 50, 100, 101, -1, null]) })),
  }
  const limited: JsonObject = {
    ...shares,
    ...maybe(random, 30, () => ({ borrowingLimitPercent: random.pick([0, 50, 1000, -1, null]) })),
    ...maybe(random, 90, () => ({ limitResponse })),
  }
  return random.pick<JsonObject>([
    { type: 'Limited', limited },
    { type: 'Limited', limited },
    { type: 'Limited', limited },
    { type: 'Exempt', exempt: shares },
    { type: 'Exempt' },
    { type: 'Exempt', limited },
    { type: 'Limited', exempt: shares },
    { type: 'Limited' },
    { type: 'Other', limited },
  ])
}

/** Paths that list objects of other scenarios. */
const clusterWide = new Set(['/api/v1/pods', '/api/v1/nodes'])

/** A request by another user, mostly refused, whose headers name its flow schema and priority level. */
function probe(random: RandomChoices, id: string): Step {
  const user = random.pick(['u-{id}', 'u-{id}', 'v-{id}', 'system:serviceaccount:{ns}:s', 'system:serviceaccount:{ns}:t'])
  const headers: Record<string, string> = { 'impersonate-user': user }
  if (random.chance(40)) headers['impersonate-group'] = random.pick(['g-{id}', 'system:nodes', 'system:masters'])
  const [method, path] = random.pick<[string, string]>([
    ['GET', '/api/v1/namespaces/{ns}/pods'],
    ['GET', '/api/v1/namespaces/{ns}/pods/p'],
    ['GET', '/api/v1/namespaces/{ns}/pods/p/status'],
    ['GET', '/api/v1/namespaces/other/configmaps/c'],
    ['GET', '/api/v1/pods'],
    ['GET', '/api/v1/nodes'],
    ['GET', '/api/v1/namespaces/{ns}'],
    ['GET', '/apis/apps/v1/namespaces/{ns}/deployments'],
    ['POST', '/api/v1/namespaces/{ns}/configmaps'],
    ['GET', '/version'],
    ['GET', '/apis/apps'],
    ['GET', '/foo/x'],
    ['POST', '/foo/x'],
  ])
  // Administrators see the objects of all scenarios, which come and go.
  const query: Step['query'] = clusterWide.has(path) ? [['labelSelector', 'scenario={id}']] : []
  return { id, method, path, query, headers, ...(method === 'POST' ? { body: { json: {} } } : {}) }
}

const forms = ['application/json', 'application/json;as=Table;v=v1;g=meta.k8s.io', 'application/vnd.kubernetes.protobuf']

function step(random: RandomChoices, id: string): Step {
  const i = random.below(2)
  const path = schemaPath(i)
  switch (random.below(12)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return probe(random, id)
    case 4:
      return schemaStep(random, id, i)
    case 5:
      return levelStep(random, id, random.pick(['POST', 'PUT']))
    case 6: {
      const { priorityLevelConfiguration, ...others } = schemaSpec(random)
      const json: JsonObject = {
        spec: random.chance(50) ? others : { priorityLevelConfiguration: priorityLevelConfiguration ?? null },
      }
      return { id, method: 'PATCH', path, headers: merge, query: query(random), body: { json }, ...agreeOn(path) }
    }
    case 7:
      return { id, method: 'GET', path: random.pick([path, levelPath]), headers: { accept: random.pick(forms) } }
    case 8: {
      const condition = {
        type: random.pick(['Dangling', 'Other']),
        status: 'True',
        reason: 'R',
        message: 'm',
        lastTransitionTime: null,
      }
      const at = random.pick([path, levelPath])
      const json = { status: { conditions: random.pick<JsonValue>([[condition], [], null]) } }
      return { id, method: 'PATCH', path: `${at}/status`, headers: merge, body: { json }, ...agreeOn(at) }
    }
    case 9: {
      const at = random.pick([path, levelPath])
      return { id, method: 'DELETE', path: at, ...agreeOn(schemaPath(0)) }
    }
    case 10: {
      const spec = appliedSpec(random)
      return {
        id,
        method: 'PATCH',
        path,
        headers: { 'content-type': 'application/apply-patch+yaml' },
        query: [
          ['fieldManager', 'm'],
          ['force', random.pick(['true', 'false'])],
        ],
        body: {
          json: { apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'FlowSchema', metadata: { name: `fs${i}-{id}` }, spec },
        },
        ...agreeOn(path),
      }
    }
    default: {
      const [built, json] = random.pick<[string, JsonObject]>([
        [`${schemas}/exempt`, { spec: { matchingPrecedence: 2 } }],
        [`${schemas}/catch-all`, { spec: { rules: [] } }],
        [`${schemas}/catch-all`, { metadata: { labels: { a: 'b' } } }],
        [`${levels}/exempt`, { spec: { exempt: { nominalConcurrencyShares: 5 } } }],
        [`${levels}/exempt`, { spec: { type: 'Limited', limited: {} } }],
        [`${levels}/catch-all`, { spec: { limited: { lendablePercent: 10 } } }],
        [`${levels}/catch-all`, { spec: { limited: { nominalConcurrencyShares: 6 } } }],
      ])
      return { id, method: 'PATCH', path: built, headers: merge, query: [['dryRun', 'All']], body: { json } }
    }
  }
}

function appliedSpec(random: RandomChoices): JsonObject {
  return random.pick<JsonObject>([
    { matchingPrecedence: 300 },
    { priorityLevelConfiguration: { name: 'workload-low' } },
    { rules: [rule(random)] },
    { distinguisherMethod: { type: 'ByNamespace' } },
  ])
}

function query(random: RandomChoices): [string, string][] {
  return random.chance(20) ? [['fieldValidation', 'Strict']] : []
}
