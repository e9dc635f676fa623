import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Step } from '../scenario.ts'
import { type Part, write } from './subresources.ts'

const path = '/api/v1/namespaces/{ns}'
const pod = `${path}/pods/a`

/** Subresources of pods. */
export function generatePodSubresources(random: RandomChoices): Part {
  return random.pick([evictions, evictions, bindings, resizes, resizes, ephemeralContainers, connections])(random)
}

function podObject(random: RandomChoices): Record<string, JsonValue> {
  const resources = random.pick<JsonObject>([
    {},
    { requests: { cpu: '100m', memory: '64Mi' } },
    { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '100m', memory: '64Mi' } },
    { requests: { cpu: '100m' }, limits: { cpu: '1', memory: '1Gi' } },
  ])
  const policy = [{ resourceName: 'cpu', restartPolicy: random.pick(['NotRequired', 'RestartContainer']) }]
  const containers = [
    { name: 'c', image: 'i', resources, ...(random.chance(20) ? { resizePolicy: policy } : {}) },
    ...(random.chance(40) ? [{ name: 'd', image: 'i' }] : []),
  ]
  const spec = {
    containers,
    ...(random.chance(15)
      ? { initContainers: [{ name: 'init', image: 'i', ...(random.chance(50) ? { restartPolicy: 'Always' } : {}) }] }
      : {}),
    ...(random.chance(50) ? { nodeName: 'n' } : {}),
    ...(random.chance(20) ? { terminationGracePeriodSeconds: random.pick([0, 1, 30]) } : {}),
    ...(random.chance(10) ? { os: { name: 'windows' } } : {}),
    ...(random.chance(10) ? { schedulingGates: [{ name: 'example.com/g' }] } : {}),
  }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', labels: { app: 'a' } }, spec }
}

function createPod(random: RandomChoices): { readonly object: Record<string, JsonValue>; readonly steps: Step[] } {
  const object = podObject(random)
  const steps: Step[] = [{ id: 'create', method: 'POST', path: `${path}/pods`, body: { json: object as JsonObject } }]
  if (random.chance(70)) steps.push(podStatus(random, 'running', object))
  return { object, steps }
}

function podStatus(random: RandomChoices, id: string, object: Record<string, JsonValue>): Step {
  const phase = random.pick(['Running', 'Running', 'Running', 'Pending', 'Succeeded', 'Failed'])
  const conditions = random.chance(75) ? [{ type: 'Ready', status: random.pick(['True', 'True', 'False']) }] : []
  const json = { ...object, status: { phase, conditions } } as JsonObject
  return { id, method: 'PUT', path: `${pod}/status`, body: { json } }
}

/** Evictions, beside budgets with and without disruptions left. */
function evictions(random: RandomChoices): Part {
  const { object, steps } = createPod(random)
  for (let i = random.pick([0, 1, 1, 1, 2]); i > 0; i--) steps.push(...budget(random, `b${i}`))
  for (let i = 0; i < 6; i++) {
    const kind = random.below(100)
    if (kind < 12) steps.push(podStatus(random, `phase${i}`, object))
    else if (kind < 24) steps.push({ id: `get${i}`, method: 'GET', path: pod })
    else if (kind < 30)
      steps.push({ id: `budget${i}`, method: 'GET', path: '/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets/b1' })
    else steps.push(eviction(random, i))
  }
  return { steps }
}

function budget(random: RandomChoices, name: string): Step[] {
  const budgets = '/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets'
  const spec = {
    ...(random.chance(50)
      ? { minAvailable: random.pick<JsonValue>([0, 1, '50%']) }
      : { maxUnavailable: random.pick<JsonValue>([0, 1, '50%']) }),
    selector: random.pick<JsonValue>([
      { matchLabels: { app: 'a' } },
      { matchLabels: { app: 'a' } },
      { matchLabels: { app: 'b' } },
      {},
    ]),
    ...(random.chance(40) ? { unhealthyPodEvictionPolicy: random.pick(['AlwaysAllow', 'IfHealthyBudget']) } : {}),
  }
  const object = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name }, spec }
  const create: Step = { id: name, method: 'POST', path: budgets, body: { json: object } }
  if (random.chance(20)) return [create]
  const healthy = random.pick([0, 1, 2])
  const status = {
    observedGeneration: random.pick([1, 1, 1, 1, 0]),
    disruptionsAllowed: random.pick([0, 1, 1, 2, -1]),
    currentHealthy: healthy,
    desiredHealthy: random.pick([0, 1, 2]),
    expectedPods: 2,
    ...(random.chance(10) ? { disruptedPods: { a: '2020-01-01T00:00:00Z' } } : {}),
  }
  return [
    create,
    { id: `${name}-status`, method: 'PUT', path: `${budgets}/${name}/status`, body: { json: { ...object, status } } },
  ]
}

function eviction(random: RandomChoices, i: number): Step {
  const options: Record<string, JsonValue> = {}
  if (random.chance(20)) options['gracePeriodSeconds'] = random.pick([0, 5, -1])
  if (random.chance(20))
    options['preconditions'] = random.pick<JsonValue>([
      { uid: 'x' },
      { uid: '{create.metadata.uid}' },
      { resourceVersion: '1' },
      { uid: '' },
      {},
    ])
  if (random.chance(10)) options['propagationPolicy'] = random.pick(['Foreground', 'Orphan', 'x'])
  if (random.chance(12)) options['dryRun'] = random.pick([['All'], [], ['x']])
  const name = random.chance(90) ? 'a' : random.pick(['b', ''])
  const json: JsonObject = {
    ...(random.chance(60)
      ? { apiVersion: random.pick(['policy/v1', 'policy/v1', 'policy/v1beta1', 'v1']), kind: 'Eviction' }
      : {}),
    metadata: { name, ...(random.chance(20) ? { namespace: random.pick(['{ns}', 'x']) } : {}) },
    ...(Object.keys(options).length > 0 ? { deleteOptions: options as JsonObject } : {}),
    ...(random.chance(5) ? { unknown: 1 } : {}),
  }
  const query: [string, string][] = random.chance(20)
    ? [
        random.pick([
          ['dryRun', 'All'],
          ['dryRun', 'All'],
          ['fieldValidation', 'Strict'],
          ['dryRun', 'x'],
        ] as [string, string][]),
      ]
    : []
  return {
    id: `evict${i}`,
    method: 'POST',
    path: `${path}/pods/${random.chance(95) ? 'a' : 'none'}/eviction`,
    query,
    body: { json },
  }
}

/** Bindings, at the pod and as a resource. */
function bindings(random: RandomChoices): Part {
  const steps: Step[] = [{ id: 'create', method: 'POST', path: `${path}/pods`, body: { json: podObject(random) as JsonObject } }]
  for (let i = 0; i < 6; i++) {
    if (random.chance(20)) {
      steps.push({ id: `get${i}`, method: 'GET', path: pod })
      continue
    }
    const metadata: Record<string, JsonValue> = { name: random.chance(90) ? 'a' : random.pick(['b', '']) }
    if (random.chance(20)) metadata['namespace'] = random.pick(['{ns}', 'x'])
    if (random.chance(15)) metadata['annotations'] = { bound: 'yes' }
    if (random.chance(15)) metadata['labels'] = random.pick<JsonValue>([{ zone: 'z' }, { app: 'x' }, { '-': 'a' }])
    if (random.chance(20)) metadata['uid'] = random.pick(['{create.metadata.uid}', 'x'])
    if (random.chance(10)) metadata['resourceVersion'] = random.pick(['{create.metadata.resourceVersion}', '1'])
    const target = random.pick<JsonValue>([
      { kind: 'Node', name: 'n1' },
      { kind: 'Node', name: 'n2' },
      { name: 'n1' },
      { kind: 'Pod', name: 'n' },
      { kind: 'Node', name: '' },
      {},
      { apiVersion: 'v1', kind: 'Node', name: 'n1' },
    ])
    const json = { ...(random.chance(70) ? { apiVersion: 'v1', kind: 'Binding' } : {}), metadata, target } as JsonObject
    const at = random.chance(75) ? `${pod}/binding` : `${path}/bindings`
    const query: [string, string][] = random.chance(20) ? [['dryRun', 'All']] : []
    steps.push({ id: `bind${i}`, method: 'POST', path: at, query, body: { json } })
  }
  return { steps }
}

const quantities = ['100m', '64Mi', '1', '2Gi', '0', '-1', 'x']

function resized(random: RandomChoices, object: Record<string, JsonValue>): JsonObject {
  const spec = structuredClone(object['spec']) as {
    containers: Record<string, JsonValue>[]
    [member: string]: JsonValue | Record<string, JsonValue>[]
  }
  for (const container of spec.containers) {
    if (random.chance(60)) {
      const list = () =>
        Object.fromEntries(
          [random.pick(['cpu', 'cpu', 'memory', 'ephemeral-storage'])].map((name) => [name, random.pick(quantities)]),
        )
      container['resources'] = {
        ...(random.chance(75) ? { requests: list() } : {}),
        ...(random.chance(50) ? { limits: list() } : {}),
      }
    }
    if (random.chance(10)) container['image'] = 'other'
    if (random.chance(10))
      container['resizePolicy'] = [
        {
          resourceName: random.pick(['cpu', 'memory', 'x']),
          restartPolicy: random.pick(['NotRequired', 'RestartContainer', 'x']),
        },
      ]
  }
  if (random.chance(6)) spec.containers.push({ name: 'e', image: 'i' })
  if (random.chance(6)) spec['nodeName'] = 'other'
  return spec as JsonObject
}

/** Resizes of containers. */
function resizes(random: RandomChoices): Part {
  const { object, steps } = createPod(random)
  for (let i = 0; i < 6; i++) {
    if (random.chance(15)) {
      steps.push({ id: `get${i}`, method: 'GET', path: random.chance(60) ? pod : `${pod}/resize` })
      continue
    }
    const change: JsonObject = { spec: resized(random, object), ...(random.chance(10) ? { status: { phase: 'Failed' } } : {}) }
    steps.push(write(random, `resize${i}`, `${pod}/resize`, { base: object as JsonObject, change }))
  }
  return { steps }
}

/** Ephemeral containers. */
function ephemeralContainers(random: RandomChoices): Part {
  const { object, steps } = createPod(random)
  const container = (): JsonObject => ({
    name: random.pick(['debug', 'debug', 'other', 'c', '', 'A']),
    ...(random.chance(92) ? { image: random.pick(['i', 'j']) } : {}),
    ...(random.chance(40) ? { targetContainerName: random.pick(['c', 'none', '']) } : {}),
    ...(random.chance(15) ? { ports: [{ containerPort: 80 }] } : {}),
    ...(random.chance(15) ? { resources: { requests: { cpu: '1' } } } : {}),
    ...(random.chance(15) ? { livenessProbe: { exec: { command: ['a'] } } } : {}),
    ...(random.chance(15) ? { stdin: true, tty: true } : {}),
    ...(random.chance(10)
      ? { volumeMounts: [{ name: 'v', mountPath: '/v', ...(random.chance(50) ? { subPath: 'x' } : {}) }] }
      : {}),
    ...(random.chance(10) ? { restartPolicy: 'Always' } : {}),
  })
  for (let i = 0; i < 6; i++) {
    if (random.chance(15)) {
      steps.push({ id: `get${i}`, method: 'GET', path: random.chance(60) ? pod : `${pod}/ephemeralcontainers` })
      continue
    }
    const list = Array.from({ length: random.pick([0, 1, 1, 1, 2]) }, container)
    const spec = { ...(random.chance(60) ? (object['spec'] as JsonObject) : {}), ephemeralContainers: list } as JsonObject
    const change = { spec, ...(random.chance(8) ? { metadata: { name: 'a', labels: { b: 'c' } } } : {}) }
    steps.push(write(random, `debug${i}`, `${pod}/ephemeralcontainers`, { base: object as JsonObject, change }))
  }
  return { steps }
}

/** Connections to pods, services and nodes, which reach no node here. */
function connections(random: RandomChoices): Part {
  const { steps } = createPod(random)
  for (let i = 0; i < 7; i++) {
    const name = random.chance(85) ? 'a' : 'none'
    const query: [string, string][] = []
    if (random.chance(50)) query.push(['container', random.pick(['c', 'd', 'init', 'none', ''])])
    if (random.chance(40)) query.push(random.pick(connectionParameters))
    const verb = random.pick(['log', 'log', 'log', 'exec', 'attach', 'portforward'])
    // A request that would reach the kubelet of a node is refused only after a name look-up.
    const method = random.pick(['GET', 'GET', 'POST', 'PUT', 'DELETE', 'PATCH'])
    const accept = random.chance(15) ? { accept: random.pick(['text/plain', '*/*', 'application/yaml', 'x']) } : {}
    steps.push({ id: `connect${i}`, method, path: `${path}/pods/${name}/${verb}`, query, headers: accept })
  }
  return { steps }
}

const connectionParameters: readonly [string, string][] = [
  ['tailLines', '-1'],
  ['tailLines', '1'],
  ['tailLines', 'x'],
  ['limitBytes', '0'],
  ['limitBytes', '-1'],
  ['sinceSeconds', '0'],
  ['sinceSeconds', '1'],
  ['sinceTime', 'x'],
  ['sinceTime', '2020-01-01T00:00:00Z'],
  ['stream', 'Stdout'],
  ['stream', 'x'],
  ['follow', 'true'],
  ['previous', '1'],
  ['insecureSkipTLSVerifyBackend', 'true'],
  ['stdin', 'true'],
  ['stdout', 'true'],
  ['command', 'ls'],
  ['ports', '80'],
  ['ports', 'x'],
  ['tty', 'x'],
]
