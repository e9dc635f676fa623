import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'
import { collectionPath, createdResources, sampleObject } from './bodies.ts'
import { customPath, defineCustom } from './custom-scale.ts'
import { generatePodSubresources } from './pod-subresources.ts'
import { mutate, randomValue } from './values.ts'

/** Subresources: of pods, scales, tokens, approvals, and the status of every kind. */
export function generateSubresources(random: RandomChoices): Scenario {
  const generate = random.pick([
    generatePodSubresources,
    generatePodSubresources,
    generatePodSubresources,
    generateScales,
    generateScales,
    generateTokens,
    generateApprovals,
    generateStatuses,
    generateStatuses,
    generateComponents,
  ])
  const { steps, namespace } = generate(random)
  return { area: 'subresources', ...(namespace === undefined ? {} : { namespace }), steps }
}

/** The steps of one kind of subresource. */
export interface Part {
  readonly steps: readonly Step[]
  /** `false`: they need none. */
  readonly namespace?: false
}

const patchTypes = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const

/** A PUT, or a patch of one of the four types, of the members in `change`. */
export function write(
  random: RandomChoices,
  id: string,
  path: string,
  target: { readonly base: JsonObject; readonly change: JsonObject },
): Step {
  const { base, change } = target
  const kind = random.pick(['put', 'put', 'merge', 'merge', 'strategic', 'json', 'apply'] as const)
  const query: [string, string][] = random.chance(15) ? [['dryRun', 'All']] : []
  if (kind === 'put') return { id, method: 'PUT', path, query, body: { json: { ...base, ...change } } }
  const headers = { 'content-type': patchTypes[kind] }
  if (kind === 'apply') {
    const { metadata, apiVersion = 'v1', kind: type = 'Pod' } = base
    const name = (metadata as JsonObject)['name'] ?? ''
    const json = { apiVersion, kind: type, metadata: { name }, ...change }
    if (random.chance(90)) query.push(['fieldManager', random.pick(['m1', 'm2'])])
    if (random.chance(40)) query.push(['force', 'true'])
    return { id, method: 'PATCH', path, query, headers, body: { json } }
  }
  const json: JsonValue =
    kind === 'json' ? Object.entries(change).map(([name, value]) => ({ op: 'add', path: `/${name}`, value })) : change
  return { id, method: 'PATCH', path, query, headers, body: { json } }
}

const scalable = [
  ['/apis/apps/v1', 'deployments', 'Deployment', 'apps/v1'],
  ['/apis/apps/v1', 'replicasets', 'ReplicaSet', 'apps/v1'],
  ['/apis/apps/v1', 'statefulsets', 'StatefulSet', 'apps/v1'],
  ['/api/v1', 'replicationcontrollers', 'ReplicationController', 'v1'],
] as const

function scaled(random: RandomChoices): { readonly steps: Step[]; readonly path: string } {
  if (random.chance(15)) {
    const object = { apiVersion: 'example.com/v1', kind: 'S{id}', metadata: { name: 'a' }, spec: { replicas: 2 } }
    const status = { status: { ready: 1, selector: 'app=a' } }
    const steps = defineCustom(random)
    steps.push({ id: 'create', method: 'POST', path: customPath, body: { json: object } })
    steps.push({ id: 'ready', method: 'PUT', path: `${customPath}/a`, body: { json: { ...object, ...status } } })
    return { steps, path: `${customPath}/a` }
  }
  const [root, resource, kind, apiVersion] = random.pick(scalable)
  const path = `${root}/namespaces/{ns}/${resource}`
  const isOld = apiVersion === 'v1'
  const spec = {
    ...(random.chance(70) ? { replicas: random.pick([0, 1, 3]) } : {}),
    ...(kind === 'StatefulSet' ? { serviceName: 's' } : {}),
    selector: isOld
      ? { app: 'a' }
      : { matchLabels: { app: 'a' }, ...(random.chance(30) ? { matchExpressions: [expression] } : {}) },
    template: {
      metadata: { labels: { app: 'a', b: 'c' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    },
  }
  const create: Step = {
    id: 'create',
    method: 'POST',
    path,
    body: { json: { apiVersion, kind, metadata: { name: 'a' }, spec } },
    ...(random.chance(40) ? { query: [['fieldManager', 'm1']] } : {}),
  }
  return { steps: [create], path: `${path}/a` }
}

const expression = { key: 'b', operator: 'In', values: ['c', 'd'] }

/** Reads and writes of scales, beside writes of the object itself. */
function generateScales(random: RandomChoices): Part {
  const { steps, path } = scaled(random)
  for (let i = 0; i < 8; i++) {
    const target = `${path}/scale`
    if (random.chance(20)) {
      const headers = random.chance(40) ? { accept: random.pick(scaleForms) } : {}
      steps.push({ id: `get${i}`, method: 'GET', path: random.chance(60) ? target : path, headers })
      continue
    }
    if (random.chance(15)) {
      const body = { spec: { replicas: random.pick([1, 5]) } }
      const headers = { 'content-type': 'application/merge-patch+json' }
      steps.push({ id: `edit${i}`, method: 'PATCH', path, headers, body: { json: body } })
      continue
    }
    const metadata: Record<string, JsonValue> = { name: 'a', namespace: '{ns}' }
    if (random.chance(30)) metadata['resourceVersion'] = random.pick(['{create.metadata.resourceVersion}', '1', '', 'x'])
    if (random.chance(15)) metadata['uid'] = random.pick(['{create.metadata.uid}', 'x'])
    if (random.chance(8)) metadata['name'] = 'b'
    if (random.chance(8)) metadata['labels'] = { a: 'b' }
    const base: Record<string, JsonValue> = {
      apiVersion: random.chance(90) ? 'autoscaling/v1' : random.pick(['v1', 'apps/v1']),
      kind: 'Scale',
      metadata,
    }
    if (random.chance(5)) base['kind'] = 'Deployment'
    const change: Record<string, JsonValue> = {
      spec: random.pick<JsonValue>([
        { replicas: 3 },
        { replicas: 0 },
        { replicas: -1 },
        { replicas: 2_147_483_648 },
        { replicas: '1' },
        { replicas: null },
        {},
        null,
        { replicas: 2, x: 1 },
      ]),
    }
    if (random.chance(15)) change['status'] = { replicas: 7, selector: 'x' }
    steps.push(write(random, `scale${i}`, target, { base: base as JsonObject, change: change as JsonObject }))
  }
  return { steps }
}

const scaleForms = [
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf,application/json',
  'application/yaml',
]

/** Token requests, valid and odd ones, and the review of issued tokens. */
function generateTokens(random: RandomChoices): Part {
  const path = '/api/v1/namespaces/{ns}'
  const metadata = { name: 'a' }
  const steps: Step[] = [
    { id: 'account', method: 'POST', path: `${path}/serviceaccounts`, body: { json: { metadata } } },
    { id: 'secret', method: 'POST', path: `${path}/secrets`, body: { json: { metadata } } },
    {
      id: 'pod',
      method: 'POST',
      path: `${path}/pods`,
      body: { json: { metadata, spec: { serviceAccountName: 'a', containers: [{ name: 'c', image: 'i' }] } } },
    },
  ]
  for (let i = 0; i < 7; i++) {
    const spec: Record<string, JsonValue> = {}
    if (random.chance(60))
      spec['audiences'] = random.pick<JsonValue>([['a'], ['a', 'b'], [], null, [''], ['https://kubernetes.default.svc']])
    if (random.chance(50))
      spec['expirationSeconds'] = random.pick<JsonValue>([600, 599, 3600, 3607, 0, -1, 4_294_967_296, 4_294_967_297, '1', null])
    if (random.chance(50)) spec['boundObjectRef'] = boundObject(random)
    const body: Record<string, JsonValue> = random.chance(70)
      ? { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' }
      : {}
    if (random.chance(90)) body['spec'] = spec
    if (random.chance(25))
      body['metadata'] = random.pick<JsonValue>([
        { name: 'a' },
        { name: 'b' },
        { namespace: '{ns}' },
        { namespace: 'x' },
        { labels: { a: 'b' } },
      ])
    if (random.chance(8)) body['unknown'] = 1
    if (random.chance(8)) body['status'] = { token: 'x' }
    const query: [string, string][] = random.chance(15)
      ? [
          random.pick([
            ['dryRun', 'All'],
            ['fieldValidation', 'Strict'],
            ['dryRun', 'x'],
            ['fieldManager', 'm'],
          ] as [string, string][]),
        ]
      : []
    const account = random.chance(92) ? 'a' : 'none'
    steps.push({
      id: `token${i}`,
      method: 'POST',
      path: `${path}/serviceaccounts/${account}/token`,
      query,
      body: { json: body as JsonObject },
    })
    if (random.chance(40)) steps.push(review(random, i))
    if (random.chance(8))
      steps.push({ id: `remove${i}`, method: 'DELETE', path: `${path}/${random.pick(['secrets', 'pods', 'serviceaccounts'])}/a` })
  }
  return { steps }
}

function boundObject(random: RandomChoices): JsonValue {
  const kind = random.pick(['Pod', 'Secret', 'Node', 'ConfigMap', ''])
  const uid = random.pick(['{pod.metadata.uid}', '{secret.metadata.uid}', 'x', ''])
  return {
    ...(random.chance(95) ? { kind } : {}),
    ...(random.chance(95) ? { apiVersion: random.pick(['v1', 'v1', 'v1', 'apps/v1', '']) } : {}),
    ...(random.chance(95) ? { name: random.pick(['a', 'a', 'a', 'none', '']) } : {}),
    ...(random.chance(50) ? { uid } : {}),
  }
}

function review(random: RandomChoices, i: number): Step {
  const spec = {
    token: random.pick([`{token${i}.status.token}`, `{token${i}.status.token}`, 'admin-token', 'x', '']),
    ...(random.chance(60) ? { audiences: random.pick([['a'], ['x'], ['https://kubernetes.default.svc'], []]) } : {}),
  }
  return { id: `review${i}`, method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews', body: { json: { spec } } }
}

/** Approval and status of certificate signing requests. */
function generateApprovals(random: RandomChoices): Part {
  const definition = createdResources.find(({ resource }) => resource.name === 'certificatesigningrequests')
  if (definition === undefined) return { steps: [], namespace: false }
  const collection = collectionPath(definition)
  const object = sampleObject(definition, '{id}-a', random)
  const path = `${collection}/{id}-a`
  const steps: Step[] = [{ id: 'create', method: 'POST', path: collection, body: { json: object } }]
  for (let i = 0; i < 8; i++) {
    const subresource = random.pick(['/approval', '/approval', '/approval', '/status', '/status', ''])
    if (random.chance(15)) {
      steps.push({ id: `get${i}`, method: 'GET', path: path + subresource })
      continue
    }
    const conditions = Array.from({ length: random.pick([0, 1, 1, 1, 2]) }, () => approvalCondition(random))
    const status: Record<string, JsonValue> = random.chance(90) ? { conditions } : {}
    if (random.chance(25)) status['certificate'] = random.pick(['YQ==', certificate, '', 'x'])
    const change = { status, ...(random.chance(10) ? { spec: { signerName: 'example.com/other' } } : {}) } as JsonObject
    steps.push(write(random, `write${i}`, path + subresource, { base: object, change }))
  }
  return { steps, namespace: false }
}

function approvalCondition(random: RandomChoices): JsonObject {
  return {
    type: random.pick(['Approved', 'Approved', 'Denied', 'Failed', 'Other', '']),
    status: random.pick(['True', 'True', 'True', 'False', 'Unknown', '', 'x']),
    ...(random.chance(60) ? { reason: 'r', message: 'm' } : {}),
    ...(random.chance(20) ? { lastUpdateTime: '2020-01-01T00:00:00Z', lastTransitionTime: '2020-01-01T00:00:00Z' } : {}),
  }
}

/** A PEM block that holds no certificate. */
const certificate = Buffer.from('-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n').toString('base64')

/** Writes and reads of the status of every kind that has one. */
function generateStatuses(random: RandomChoices): Part {
  const withStatus = createdResources.filter(
    ({ subresources, resource }) =>
      // kube-apiserver writes the conditions of flow schemas in the background.
      resource.name !== 'flowschemas' && subresources.some(({ name }) => name === `${resource.name}/status`),
  )
  const definition = random.pick(withStatus)
  const collection = collectionPath(definition)
  const path = `${collection}/{id}-a`
  const object = sampleObject(definition, '{id}-a', random)
  const steps: Step[] = [{ id: 'create', method: 'POST', path: collection, body: { json: object } }]
  const type = definition.kind.type().field.get('status')
  const { metadata: _, ...rest } = object
  for (let i = 0; i < 7; i++) {
    const sample = rest['status']
    let status = type === undefined ? {} : randomValue(type.type, 'status', random)
    if (type?.type.kind === 'struct' && sample !== undefined && random.chance(60)) {
      const own = structuredClone(sample) as Record<string, JsonValue>
      for (let changes = random.pick([0, 1, 1, 2]); changes > 0; changes--) mutate(own, type.type.struct(), random)
      status = own
    }
    const target = random.chance(85) ? `${path}/status` : path
    if (random.chance(15)) {
      steps.push({ id: `get${i}`, method: 'GET', path: target })
      continue
    }
    const base = { ...structuredClone(rest), metadata: { name: '{id}-a', ...metadataChange(random) } } as Record<
      string,
      JsonValue
    >
    if (random.chance(20)) mutate(base, definition.kind.type(), random)
    steps.push(write(random, `status${i}`, target, { base: base as JsonObject, change: { status } }))
  }
  return { steps, ...(definition.resource.namespaced ? {} : { namespace: false as const }) }
}

function metadataChange(random: RandomChoices): JsonObject {
  return {
    ...(random.chance(20) ? { resourceVersion: random.pick(['{create.metadata.resourceVersion}', '1', '']) } : {}),
    ...(random.chance(15) ? { labels: { a: 'b' } } : {}),
    ...(random.chance(10) ? { finalizers: ['example.com/x'] } : {}),
  }
}

/** Component statuses, which are computed. */
function generateComponents(random: RandomChoices): Part {
  const path = '/api/v1/componentstatuses'
  const steps: Step[] = []
  for (let i = 0; i < 5; i++) {
    steps.push({
      id: `step${i}`,
      method: random.pick(['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE', 'PATCH']),
      path: random.pick([`${path}/etcd-0`, `${path}/none`, `${path}/etcd-0/status`, '/api/v1/namespaces/{ns}/componentstatuses']),
      headers: random.chance(40) ? { accept: random.pick(scaleForms) } : {},
    })
  }
  return { steps }
}
