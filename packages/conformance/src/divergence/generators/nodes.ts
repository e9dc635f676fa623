import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'

const inNamespace = '/api/v1/namespaces/{ns}'
const nodes = '/api/v1/nodes'
/** Time in which an object reaches the graph of the node authorizer. */
const settleMs = 400

/** What a node may read and write: by the node authorizer, and by NodeRestriction. */
export function generateNodes(random: RandomChoices): Scenario {
  const steps: Step[] = [
    create('mine', `${inNamespace}/pods`, pod('mine', 'node-1', random)),
    create('theirs', `${inNamespace}/pods`, pod('theirs', 'node-2', random)),
    create('loose', `${inNamespace}/pods`, pod('loose', undefined, random)),
    ...['s1', 's2', 's3'].map((name) => create(name, `${inNamespace}/secrets`, { metadata: { name } })),
    ...['c1', 'c2', 'c3'].map((name) => create(name, `${inNamespace}/configmaps`, { metadata: { name } })),
    create('account', `${inNamespace}/serviceaccounts`, { metadata: { name: 'a' } }),
    create('claim', `${inNamespace}/persistentvolumeclaims`, claim),
    ...['node-1', 'node-2'].map((name) => create(name, nodes, { metadata: { name, labels: { zone: 'z' } } })),
  ]
  steps.push({ ...(steps.pop() as Step), settleMs })
  for (let i = 0; i < 16; i++) steps.push({ as: 'node1', ...random.pick(attempts)(random, `s${i}`) })
  steps.push({ id: 'end1', method: 'DELETE', path: `${nodes}/node-1` }, { id: 'end2', method: 'DELETE', path: `${nodes}/node-2` })
  return { area: 'nodes', exclusive: true, steps }
}

const claim: JsonObject = {
  metadata: { name: 'p1' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}

function create(id: string, path: string, json: JsonObject): Step {
  return { id, method: 'POST', path, body: { json } }
}

function pod(name: string, nodeName: string | undefined, random: RandomChoices): JsonObject {
  const number = name === 'mine' ? '1' : name === 'theirs' ? '2' : '3'
  const volumes = [
    { name: 's', secret: { secretName: `s${number}` } },
    { name: 'c', configMap: { name: `c${number}` } },
    ...(name === 'mine' ? [{ name: 'p', persistentVolumeClaim: { claimName: 'p1' } }] : []),
  ]
  const env = random.chance(50) ? { env: [{ name: 'E', valueFrom: { secretKeyRef: { name: `s${number}`, key: 'k' } } }] } : {}
  const spec = { containers: [{ name: 'c', image: 'i', ...env }], volumes, serviceAccountName: name === 'mine' ? 'a' : 'default' }
  return { metadata: { name }, spec: { ...spec, ...(nodeName === undefined ? {} : { nodeName }) } }
}

type Attempt = (random: RandomChoices, id: string) => Step
const merge = { 'content-type': 'application/merge-patch+json' }
const pods = ['mine', 'mine', 'theirs', 'loose', 'none']

function reads(random: RandomChoices, id: string): Step {
  const path = random.pick([
    ...['s1', 's2', 's3', 'none'].map((name) => `${inNamespace}/secrets/${name}`),
    ...['c1', 'c2', 'c3'].map((name) => `${inNamespace}/configmaps/${name}`),
    `${inNamespace}/persistentvolumeclaims/p1`,
    '/api/v1/persistentvolumes/v',
    `${inNamespace}/serviceaccounts/a`,
    `${inNamespace}/serviceaccounts/default`,
    ...pods.map((name) => `${inNamespace}/pods/${name}`),
    `${nodes}/node-1`,
    `${nodes}/node-2`,
    `${inNamespace}/secrets`,
    `${inNamespace}/configmaps`,
    '/api/v1/namespaces/{ns}',
    '/apis/storage.k8s.io/v1/csinodes/node-1',
    '/apis/storage.k8s.io/v1/csinodes/node-2',
    '/apis/storage.k8s.io/v1/csidrivers/x',
    '/apis/storage.k8s.io/v1/volumeattachments/x',
    '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1',
    '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-2',
    '/apis/node.k8s.io/v1/runtimeclasses/x',
    `${inNamespace}/endpoints/x`,
    `${inNamespace}/services/x`,
    '/apis/certificates.k8s.io/v1/certificatesigningrequests/x',
  ])
  return { id, method: 'GET', path }
}

const selectors = [
  'metadata.name=s1',
  'metadata.name=s2',
  'spec.nodeName=node-1',
  'spec.nodeName=node-2',
  'metadata.name=node-1',
  'spec.nodeName=node-1,metadata.name=mine',
]

function lists(random: RandomChoices, id: string): Step {
  const path = random.pick([`${inNamespace}/secrets`, `${inNamespace}/pods`, `${inNamespace}/configmaps`, nodes])
  return { id, method: 'GET', path, query: [['fieldSelector', random.pick(selectors)]] }
}

function podWrites(random: RandomChoices, id: string): Step {
  const name = random.pick(pods)
  const path = `${inNamespace}/pods/${name}`
  switch (random.below(6)) {
    case 0:
      return {
        id,
        method: 'PATCH',
        path: `${path}/status`,
        headers: merge,
        body: {
          json: {
            status: random.pick<JsonObject>([
              { phase: 'Running' },
              { podIP: '1.2.3.4' },
              { resourceClaimStatuses: [{ name: 'x' }] },
            ]),
          },
        },
      }
    case 1:
      return {
        id,
        method: 'PATCH',
        path: random.pick([path, `${path}/status`]),
        headers: merge,
        body: { json: { metadata: { labels: { a: id } } } },
      }
    case 2:
      return { id, method: 'DELETE', path, query: [['dryRun', 'All']] }
    case 3:
      return {
        id,
        method: 'POST',
        path: `${path}/eviction`,
        body: { json: { metadata: { name: random.pick([name, 'mine']) } } },
        query: [['dryRun', 'All']],
      }
    case 4:
      return { id, method: 'PATCH', path: `${path}/resize`, headers: merge, body: { json: { spec: {} } } }
    default:
      return { id, method: 'POST', path: `${path}/binding`, body: { json: { target: { name: 'node-1' } } } }
  }
}

function mirrorPods(random: RandomChoices, id: string): Step {
  const owner = (uid: string, extra: JsonObject = {}): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Node',
    name: 'node-1',
    uid,
    controller: true,
    ...extra,
  })
  const owners = random.pick<JsonValue>([
    [owner('{node-1.metadata.uid}')],
    [owner('x')],
    [owner('{node-1.metadata.uid}', { blockOwnerDeletion: true })],
    [owner('{node-1.metadata.uid}', { controller: false })],
    [owner('{node-1.metadata.uid}', { name: 'node-2' })],
    [owner('{node-1.metadata.uid}'), owner('x')],
    [],
    [owner('{node-1.metadata.uid}', { kind: 'Pod' })],
  ])
  const annotations = random.chance(85) ? { annotations: { 'kubernetes.io/config.mirror': 'x' } } : {}
  const spec = {
    nodeName: random.pick(['node-1', 'node-1', 'node-1', 'node-2', '']),
    containers: [{ name: 'c', image: 'i' }],
    ...(random.chance(20) ? { serviceAccountName: 'a' } : {}),
    ...(random.chance(25) ? { volumes: [random.pick<JsonObject>(mirrorVolumes)] } : {}),
  }
  return {
    ...create(id, `${inNamespace}/pods`, { metadata: { name: id, ...annotations, ownerReferences: owners }, spec }),
    query: [['dryRun', 'All']],
  }
}

const mirrorVolumes: readonly JsonObject[] = [
  { name: 'v', secret: { secretName: 's1' } },
  { name: 'v', configMap: { name: 'c1' } },
  { name: 'v', persistentVolumeClaim: { claimName: 'p1' } },
  { name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
  { name: 'v', emptyDir: {} },
]

const labels: readonly JsonObject[] = [
  { zone: 'y' },
  { zone: null },
  { 'kubernetes.io/hostname': 'h' },
  { 'node-restriction.kubernetes.io/a': 'b' },
  { 'kubernetes.io/a': 'b' },
  { 'x.k8s.io/a': 'b' },
  { 'kubelet.kubernetes.io/a': 'b' },
  { 'node.kubernetes.io/a': 'b' },
  { 'node-role.kubernetes.io/worker': '' },
  { 'topology.kubernetes.io/zone': 'z' },
  { 'beta.kubernetes.io/os': 'linux' },
  { 'example.com/a': 'b' },
]

function nodeWrites(random: RandomChoices, id: string): Step {
  const path = `${nodes}/${random.pick(['node-1', 'node-1', 'node-2', 'node-3'])}`
  const dry: [string, string][] = [['dryRun', 'All']]
  const change = random.pick<JsonObject>([
    { metadata: { labels: random.pick(labels) } },
    { metadata: { labels: random.pick(labels) } },
    { metadata: { labels: random.pick(labels) } },
    { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } },
    { spec: { unschedulable: true } },
    { spec: { configSource: { configMap: { name: 'c', namespace: 'n', kubeletConfigKey: 'k' } } } },
    { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }] } },
  ])
  switch (random.below(5)) {
    case 0: {
      const name = path.slice(nodes.length + 1)
      return {
        ...create(id, nodes, { metadata: { name, labels: random.pick(labels.filter((each) => each['zone'] !== null)) } }),
        query: dry,
      }
    }
    case 1:
      return { id, method: 'DELETE', path, query: dry }
    case 2:
      return {
        id,
        method: 'PATCH',
        path: `${path}/status`,
        query: dry,
        headers: merge,
        body: { json: { status: { capacity: { cpu: '1' } } } },
      }
    default:
      return {
        id,
        method: 'PATCH',
        path: random.chance(85) ? path : `${path}/status`,
        query: dry,
        headers: merge,
        body: { json: change },
      }
  }
}

function leases(random: RandomChoices, id: string): Step {
  const namespace = random.pick(['kube-node-lease', 'kube-node-lease', '{ns}'])
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
  const name = random.pick(['node-1', 'node-1', 'node-2'])
  const query: [string, string][] = [['dryRun', 'All']]
  if (random.chance(50)) return { ...create(id, path, { metadata: { name } }), query }
  return { id, method: random.pick(['DELETE', 'GET']), path: `${path}/${name}`, query }
}

function tokensAndOthers(random: RandomChoices, id: string): Step {
  const query: [string, string][] = [['dryRun', 'All']]
  switch (random.below(4)) {
    case 0:
    case 1: {
      const ref = random.pick<JsonObject>([
        { kind: 'Pod', apiVersion: 'v1', name: 'mine', uid: '{mine.metadata.uid}' },
        { kind: 'Pod', apiVersion: 'v1', name: 'mine' },
        { kind: 'Pod', apiVersion: 'v1', name: 'theirs', uid: '{theirs.metadata.uid}' },
        { kind: 'Pod', apiVersion: 'v1', name: 'mine', uid: 'x' },
        { kind: 'Secret', apiVersion: 'v1', name: 's1' },
        { kind: 'Node', apiVersion: 'v1', name: 'node-1' },
      ])
      const spec = { ...(random.chance(85) ? { boundObjectRef: ref } : {}), ...(random.chance(30) ? { audiences: ['a'] } : {}) }
      return create(id, `${inNamespace}/serviceaccounts/${random.pick(['a', 'a', 'default'])}/token`, { spec })
    }
    case 2: {
      const name = random.pick(['node-1', 'node-1', 'node-2'])
      const spec = { drivers: random.pick<JsonValue>([[], [{ name: 'd', nodeID: 'n', topologyKeys: [] }]]) }
      return { ...create(id, '/apis/storage.k8s.io/v1/csinodes', { metadata: { name }, spec }), query }
    }
    default: {
      const involvedObject = { kind: 'Pod', name: 'mine', namespace: '{ns}' }
      return { ...create(id, `${inNamespace}/events`, { metadata: { name: id }, involvedObject, reason: 'R' }), query }
    }
  }
}

const attempts: readonly Attempt[] = [
  reads,
  reads,
  lists,
  podWrites,
  podWrites,
  mirrorPods,
  mirrorPods,
  nodeWrites,
  nodeWrites,
  leases,
  tokensAndOthers,
]
