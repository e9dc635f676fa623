import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Dice } from '../../attacks/harness/dice.ts'
import type { Step } from '../scenario.ts'
import { type Part, write } from './subresources.ts'

const path = '/api/v1/namespaces/{ns}'
const pod = `${path}/pods/a`

/** Subresources of pods. */
export function generatePodSubresources(dice: Dice): Part {
  return dice.pick([evictions, evictions, bindings, resizes, resizes, ephemeralContainers, connections])(dice)
}

function podObject(dice: Dice): Record<string, JsonValue> {
  const resources = dice.pick<JsonObject>([
    {},
    { requests: { cpu: '100m', memory: '64Mi' } },
    { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '100m', memory: '64Mi' } },
    { requests: { cpu: '100m' }, limits: { cpu: '1', memory: '1Gi' } },
  ])
  const policy = [{ resourceName: 'cpu', restartPolicy: dice.pick(['NotRequired', 'RestartContainer']) }]
  const containers = [
    { name: 'c', image: 'i', resources, ...(dice.chance(20) ? { resizePolicy: policy } : {}) },
    ...(dice.chance(40) ? [{ name: 'd', image: 'i' }] : []),
  ]
  const spec = {
    containers,
    ...(dice.chance(15)
      ? { initContainers: [{ name: 'init', image: 'i', ...(dice.chance(50) ? { restartPolicy: 'Always' } : {}) }] }
      : {}),
    ...(dice.chance(50) ? { nodeName: 'n' } : {}),
    ...(dice.chance(20) ? { terminationGracePeriodSeconds: dice.pick([0, 1, 30]) } : {}),
    ...(dice.chance(10) ? { os: { name: 'windows' } } : {}),
    ...(dice.chance(10) ? { schedulingGates: [{ name: 'example.com/g' }] } : {}),
  }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', labels: { app: 'a' } }, spec }
}

function createPod(dice: Dice): { readonly object: Record<string, JsonValue>; readonly steps: Step[] } {
  const object = podObject(dice)
  const steps: Step[] = [{ id: 'create', method: 'POST', path: `${path}/pods`, body: { json: object as JsonObject } }]
  if (dice.chance(70)) steps.push(podStatus(dice, 'running', object))
  return { object, steps }
}

function podStatus(dice: Dice, id: string, object: Record<string, JsonValue>): Step {
  const phase = dice.pick(['Running', 'Running', 'Running', 'Pending', 'Succeeded', 'Failed'])
  const conditions = dice.chance(75) ? [{ type: 'Ready', status: dice.pick(['True', 'True', 'False']) }] : []
  const json = { ...object, status: { phase, conditions } } as JsonObject
  return { id, method: 'PUT', path: `${pod}/status`, body: { json } }
}

/** Evictions, beside budgets with and without disruptions left. */
function evictions(dice: Dice): Part {
  const { object, steps } = createPod(dice)
  for (let i = dice.pick([0, 1, 1, 1, 2]); i > 0; i--) steps.push(...budget(dice, `b${i}`))
  for (let i = 0; i < 6; i++) {
    const kind = dice.below(100)
    if (kind < 12) steps.push(podStatus(dice, `phase${i}`, object))
    else if (kind < 24) steps.push({ id: `get${i}`, method: 'GET', path: pod })
    else if (kind < 30)
      steps.push({ id: `budget${i}`, method: 'GET', path: '/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets/b1' })
    else steps.push(eviction(dice, i))
  }
  return { steps }
}

function budget(dice: Dice, name: string): Step[] {
  const budgets = '/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets'
  const spec = {
    ...(dice.chance(50)
      ? { minAvailable: dice.pick<JsonValue>([0, 1, '50%']) }
      : { maxUnavailable: dice.pick<JsonValue>([0, 1, '50%']) }),
    selector: dice.pick<JsonValue>([
      { matchLabels: { app: 'a' } },
      { matchLabels: { app: 'a' } },
      { matchLabels: { app: 'b' } },
      {},
    ]),
    ...(dice.chance(40) ? { unhealthyPodEvictionPolicy: dice.pick(['AlwaysAllow', 'IfHealthyBudget']) } : {}),
  }
  const object = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name }, spec }
  const create: Step = { id: name, method: 'POST', path: budgets, body: { json: object } }
  if (dice.chance(20)) return [create]
  const healthy = dice.pick([0, 1, 2])
  const status = {
    observedGeneration: dice.pick([1, 1, 1, 1, 0]),
    disruptionsAllowed: dice.pick([0, 1, 1, 2, -1]),
    currentHealthy: healthy,
    desiredHealthy: dice.pick([0, 1, 2]),
    expectedPods: 2,
    ...(dice.chance(10) ? { disruptedPods: { a: '2020-01-01T00:00:00Z' } } : {}),
  }
  return [
    create,
    { id: `${name}-status`, method: 'PUT', path: `${budgets}/${name}/status`, body: { json: { ...object, status } } },
  ]
}

function eviction(dice: Dice, i: number): Step {
  const options: Record<string, JsonValue> = {}
  if (dice.chance(20)) options['gracePeriodSeconds'] = dice.pick([0, 5, -1])
  if (dice.chance(20))
    options['preconditions'] = dice.pick<JsonValue>([
      { uid: 'x' },
      { uid: '{create.metadata.uid}' },
      { resourceVersion: '1' },
      { uid: '' },
      {},
    ])
  if (dice.chance(10)) options['propagationPolicy'] = dice.pick(['Foreground', 'Orphan', 'x'])
  if (dice.chance(12)) options['dryRun'] = dice.pick([['All'], [], ['x']])
  const name = dice.chance(90) ? 'a' : dice.pick(['b', ''])
  const json: JsonObject = {
    ...(dice.chance(60) ? { apiVersion: dice.pick(['policy/v1', 'policy/v1', 'policy/v1beta1', 'v1']), kind: 'Eviction' } : {}),
    metadata: { name, ...(dice.chance(20) ? { namespace: dice.pick(['{ns}', 'x']) } : {}) },
    ...(Object.keys(options).length > 0 ? { deleteOptions: options as JsonObject } : {}),
    ...(dice.chance(5) ? { unknown: 1 } : {}),
  }
  const query: [string, string][] = dice.chance(20)
    ? [
        dice.pick([
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
    path: `${path}/pods/${dice.chance(95) ? 'a' : 'none'}/eviction`,
    query,
    body: { json },
  }
}

/** Bindings, at the pod and as a resource. */
function bindings(dice: Dice): Part {
  const steps: Step[] = [{ id: 'create', method: 'POST', path: `${path}/pods`, body: { json: podObject(dice) as JsonObject } }]
  for (let i = 0; i < 6; i++) {
    if (dice.chance(20)) {
      steps.push({ id: `get${i}`, method: 'GET', path: pod })
      continue
    }
    const metadata: Record<string, JsonValue> = { name: dice.chance(90) ? 'a' : dice.pick(['b', '']) }
    if (dice.chance(20)) metadata['namespace'] = dice.pick(['{ns}', 'x'])
    if (dice.chance(15)) metadata['annotations'] = { bound: 'yes' }
    if (dice.chance(15)) metadata['labels'] = dice.pick<JsonValue>([{ zone: 'z' }, { app: 'x' }, { '-': 'a' }])
    if (dice.chance(20)) metadata['uid'] = dice.pick(['{create.metadata.uid}', 'x'])
    if (dice.chance(10)) metadata['resourceVersion'] = dice.pick(['{create.metadata.resourceVersion}', '1'])
    const target = dice.pick<JsonValue>([
      { kind: 'Node', name: 'n1' },
      { kind: 'Node', name: 'n2' },
      { name: 'n1' },
      { kind: 'Pod', name: 'n' },
      { kind: 'Node', name: '' },
      {},
      { apiVersion: 'v1', kind: 'Node', name: 'n1' },
    ])
    const json = { ...(dice.chance(70) ? { apiVersion: 'v1', kind: 'Binding' } : {}), metadata, target } as JsonObject
    const at = dice.chance(75) ? `${pod}/binding` : `${path}/bindings`
    const query: [string, string][] = dice.chance(20) ? [['dryRun', 'All']] : []
    steps.push({ id: `bind${i}`, method: 'POST', path: at, query, body: { json } })
  }
  return { steps }
}

const quantities = ['100m', '64Mi', '1', '2Gi', '0', '-1', 'x']

function resized(dice: Dice, object: Record<string, JsonValue>): JsonObject {
  const spec = structuredClone(object['spec']) as {
    containers: Record<string, JsonValue>[]
    [member: string]: JsonValue | Record<string, JsonValue>[]
  }
  for (const container of spec.containers) {
    if (dice.chance(60)) {
      const list = () =>
        Object.fromEntries(
          [dice.pick(['cpu', 'cpu', 'memory', 'ephemeral-storage'])].map((name) => [name, dice.pick(quantities)]),
        )
      container['resources'] = {
        ...(dice.chance(75) ? { requests: list() } : {}),
        ...(dice.chance(50) ? { limits: list() } : {}),
      }
    }
    if (dice.chance(10)) container['image'] = 'other'
    if (dice.chance(10))
      container['resizePolicy'] = [
        { resourceName: dice.pick(['cpu', 'memory', 'x']), restartPolicy: dice.pick(['NotRequired', 'RestartContainer', 'x']) },
      ]
  }
  if (dice.chance(6)) spec.containers.push({ name: 'e', image: 'i' })
  if (dice.chance(6)) spec['nodeName'] = 'other'
  return spec as JsonObject
}

/** Resizes of containers. */
function resizes(dice: Dice): Part {
  const { object, steps } = createPod(dice)
  for (let i = 0; i < 6; i++) {
    if (dice.chance(15)) {
      steps.push({ id: `get${i}`, method: 'GET', path: dice.chance(60) ? pod : `${pod}/resize` })
      continue
    }
    const change: JsonObject = { spec: resized(dice, object), ...(dice.chance(10) ? { status: { phase: 'Failed' } } : {}) }
    steps.push(write(dice, `resize${i}`, `${pod}/resize`, { base: object as JsonObject, change }))
  }
  return { steps }
}

/** Ephemeral containers. */
function ephemeralContainers(dice: Dice): Part {
  const { object, steps } = createPod(dice)
  const container = (): JsonObject => ({
    name: dice.pick(['debug', 'debug', 'other', 'c', '', 'A']),
    ...(dice.chance(92) ? { image: dice.pick(['i', 'j']) } : {}),
    ...(dice.chance(40) ? { targetContainerName: dice.pick(['c', 'none', '']) } : {}),
    ...(dice.chance(15) ? { ports: [{ containerPort: 80 }] } : {}),
    ...(dice.chance(15) ? { resources: { requests: { cpu: '1' } } } : {}),
    ...(dice.chance(15) ? { livenessProbe: { exec: { command: ['a'] } } } : {}),
    ...(dice.chance(15) ? { stdin: true, tty: true } : {}),
    ...(dice.chance(10) ? { volumeMounts: [{ name: 'v', mountPath: '/v', ...(dice.chance(50) ? { subPath: 'x' } : {}) }] } : {}),
    ...(dice.chance(10) ? { restartPolicy: 'Always' } : {}),
  })
  for (let i = 0; i < 6; i++) {
    if (dice.chance(15)) {
      steps.push({ id: `get${i}`, method: 'GET', path: dice.chance(60) ? pod : `${pod}/ephemeralcontainers` })
      continue
    }
    const list = Array.from({ length: dice.pick([0, 1, 1, 1, 2]) }, container)
    const spec = { ...(dice.chance(60) ? (object['spec'] as JsonObject) : {}), ephemeralContainers: list } as JsonObject
    const change = { spec, ...(dice.chance(8) ? { metadata: { name: 'a', labels: { b: 'c' } } } : {}) }
    steps.push(write(dice, `debug${i}`, `${pod}/ephemeralcontainers`, { base: object as JsonObject, change }))
  }
  return { steps }
}

/** Connections to pods, services and nodes, which reach no node here. */
function connections(dice: Dice): Part {
  const { steps } = createPod(dice)
  for (let i = 0; i < 7; i++) {
    const name = dice.chance(85) ? 'a' : 'none'
    const query: [string, string][] = []
    if (dice.chance(50)) query.push(['container', dice.pick(['c', 'd', 'init', 'none', ''])])
    if (dice.chance(40)) query.push(dice.pick(connectionParameters))
    const verb = dice.pick(['log', 'log', 'log', 'exec', 'attach', 'portforward'])
    // A request that would reach the kubelet of a node is refused only after a name look-up.
    const method = dice.pick(['GET', 'GET', 'POST', 'PUT', 'DELETE', 'PATCH'])
    const accept = dice.chance(15) ? { accept: dice.pick(['text/plain', '*/*', 'application/yaml', 'x']) } : {}
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
