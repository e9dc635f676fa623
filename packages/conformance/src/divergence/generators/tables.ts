import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'
import { collectionPath, createdResources, sampleObject } from './bodies.ts'
import { mutate, randomValue } from './values.ts'

const forms = ['v1', 'v1', 'v1', 'v1beta1'].map((version) => `application/json;as=Table;v=${version};g=meta.k8s.io`)
const inclusions = ['None', 'Metadata', 'Object', '']

/** kube-apiserver writes the status of FlowSchemas itself, and APIServices show whether their backend answers. */
const excluded: ReadonlySet<string> = new Set(['flowschemas', 'apiservices'])
const printed = createdResources.filter(({ resource }) => !excluded.has(resource.name))

/** Objects of every kind with generated content and status, and their Tables: cells of all formats, with and without objects. */
export function generateTables(random: RandomChoices): Scenario {
  const definition = random.pick(printed)
  const collection = collectionPath(definition)
  const type = definition.kind.type()
  const status = type.field.get('status')
  const hasStatus = definition.subresources.some(({ name }) => name === `${definition.resource.name}/status`)
  const steps: Step[] = []
  for (let i = 0; i < 4; i++) {
    const body = sampleObject(definition, `{id}-${i}`, random)
    for (let changes = random.pick([0, 0, 1, 2]); changes > 0; changes--) mutate(body, type, random)
    steps.push({ id: `create${i}`, method: 'POST', path: collection, body: { json: body } })
  }
  for (let i = 0; i < 6; i++) {
    const path = `${collection}/{id}-${random.below(4)}`
    if (hasStatus && status !== undefined && random.chance(75)) {
      const value = statusOf(definition.kind.kind, randomValue(status.type, 'status', random), random)
      steps.push({ id: `status${i}`, method: 'PATCH', path: `${path}/status`, headers: merge, body: { json: { status: value } } })
    } else {
      const change = random.pick<JsonObject>(changes)
      steps.push({ id: `change${i}`, method: 'PATCH', path, headers: merge, body: { json: { metadata: change } } })
    }
    const query: [string, string][] = [['includeObject', random.pick(inclusions)]]
    steps.push({ id: `table${i}`, method: 'GET', path, query, headers: { accept: random.pick(forms) } })
  }
  // A collection of the cluster holds objects of other scenarios.
  if (definition.resource.namespaced)
    steps.push({
      id: 'list',
      method: 'GET',
      path: collection,
      query: [['includeObject', random.pick(inclusions)]],
      headers: { accept: random.pick(forms) },
    })
  return { area: 'tables', ...(definition.resource.namespaced ? {} : { namespace: false as const }), steps }
}

const merge = { 'content-type': 'application/merge-patch+json' }
const changes: readonly JsonObject[] = [
  { labels: { a: 'b', c: 'd' } },
  { annotations: { 'kubernetes.io/description': 'x' } },
  { finalizers: ['example.com/a'] },
  { labels: null },
  { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u', controller: true }] },
]

const times = ['2020-01-01T00:00:00Z', '2024-02-29T23:59:59Z', null]
const conditionTypes = [
  'Ready',
  'Available',
  'Complete',
  'Failed',
  'Suspended',
  'Progressing',
  'Approved',
  'Initialized',
  'PodScheduled',
  'FailureTarget',
  'SuccessCriteriaMet',
  'ScalingActive',
  'AbleToScale',
]

/** Status that shows in the columns of a kind. */
function statusOf(kind: string, generated: JsonValue, random: RandomChoices): JsonValue {
  const own = shown[kind]
  const base = typeof generated === 'object' && generated !== null && random.chance(50) ? generated : {}
  const conditions = Array.from({ length: random.below(3) }, () => ({
    type: random.pick(conditionTypes),
    status: random.pick(['True', 'False', 'Unknown']),
    ...(random.chance(50) ? { reason: random.pick(['R', 'PodCompleted']) } : {}),
    ...(random.chance(30) ? { lastTransitionTime: random.pick(times) } : {}),
  }))
  return { ...base, ...(random.chance(50) ? { conditions } : {}), ...own?.(random) } as JsonValue
}

const waiting = [
  { waiting: { reason: 'CrashLoopBackOff' } },
  { waiting: {} },
  { running: { startedAt: '2020-01-01T00:00:00Z' } },
  { terminated: { exitCode: 1, finishedAt: '2020-01-02T00:00:00Z' } },
  { terminated: { exitCode: 0, reason: 'Completed' } },
  { terminated: { exitCode: 137, signal: 9 } },
  {},
]

function containerStatuses(random: RandomChoices, names: readonly string[]): JsonValue {
  return names
    .filter(() => random.chance(75))
    .map((name) => ({
      name,
      image: 'i',
      imageID: '',
      ready: random.chance(50),
      ...(random.chance(40) ? { started: random.chance(50) } : {}),
      restartCount: random.pick([0, 1, 12]),
      state: random.pick<JsonObject>(waiting),
      ...(random.chance(40) ? { lastState: random.pick<JsonObject>(waiting) } : {}),
    }))
}

const counts = [0, 1, 2, 15]

function numbers(random: RandomChoices, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter(() => random.chance(60)).map((name) => [name, random.pick(counts)]))
}

const shown: Readonly<Record<string, (random: RandomChoices) => JsonObject>> = {
  Pod: (random) => ({
    phase: random.pick(['Running', 'Pending', 'Succeeded', 'Failed', 'Unknown']),
    ...(random.chance(20) ? { reason: random.pick(['Evicted', 'NodeLost', 'Completed']) } : {}),
    ...(random.chance(50)
      ? { podIPs: random.pick<JsonValue>([[{ ip: '1.2.3.4' }], [{ ip: '1.2.3.4' }, { ip: '::1' }], []]) }
      : {}),
    ...(random.chance(20) ? { nominatedNodeName: 'n' } : {}),
    containerStatuses: containerStatuses(random, ['main', 'side']),
    initContainerStatuses: containerStatuses(random, ['init', 'second']),
  }),
  Deployment: (random) =>
    numbers(random, ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas']),
  ReplicaSet: (random) => numbers(random, ['replicas', 'readyReplicas', 'availableReplicas', 'fullyLabeledReplicas']),
  ReplicationController: (random) => numbers(random, ['replicas', 'readyReplicas', 'availableReplicas']),
  StatefulSet: (random) => numbers(random, ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas']),
  DaemonSet: (random) =>
    numbers(random, [
      'desiredNumberScheduled',
      'currentNumberScheduled',
      'numberReady',
      'updatedNumberScheduled',
      'numberAvailable',
      'numberMisscheduled',
    ]),
  Job: (random) => ({
    ...numbers(random, ['active', 'succeeded', 'failed', 'ready']),
    ...(random.chance(60) ? { startTime: '2020-01-01T00:00:00Z' } : {}),
    ...(random.chance(40) ? { completionTime: '2020-01-01T00:10:05Z' } : {}),
  }),
  CronJob: (random) => ({
    ...(random.chance(60) ? { lastScheduleTime: random.pick(['2020-01-01T00:00:00Z', '2099-01-01T00:00:00Z']) } : {}),
    active: random.pick<JsonValue>([[], [{ kind: 'Job', name: 'j' }], [{ name: 'a' }, { name: 'b' }]]),
  }),
  HorizontalPodAutoscaler: (random) => numbers(random, ['currentReplicas', 'desiredReplicas']),
  PodDisruptionBudget: (random) => numbers(random, ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']),
  Service: (random) => ({
    loadBalancer: { ingress: random.pick<JsonValue>([[], [{ ip: '1.2.3.4' }], [{ hostname: 'a.example' }, { ip: '1.2.3.4' }]]) },
  }),
  Ingress: (random) => ({
    loadBalancer: { ingress: random.pick<JsonValue>([[], [{ ip: '1.2.3.4' }], [{ hostname: 'a.example' }, { ip: '::1' }]]) },
  }),
  Node: (random) => ({
    addresses: random.pick<JsonValue>([
      [],
      [
        { type: 'InternalIP', address: '10.1.0.1' },
        { type: 'ExternalIP', address: '1.2.3.4' },
      ],
    ]),
    nodeInfo: {
      kubeletVersion: random.pick(['v1.33.1', '']),
      osImage: 'Linux',
      kernelVersion: '6',
      containerRuntimeVersion: 'c://1',
    },
  }),
  PersistentVolumeClaim: (random) => ({
    phase: random.pick(['Bound', 'Pending', 'Lost']),
    capacity: { storage: random.pick(['1Gi', '1500Mi']) },
    accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
  }),
  PersistentVolume: (random) => ({
    phase: random.pick(['Bound', 'Available', 'Released', 'Failed']),
    ...(random.chance(30) ? { reason: 'r' } : {}),
  }),
  Namespace: (random) => ({ phase: random.pick(['Active', 'Terminating']) }),
}
