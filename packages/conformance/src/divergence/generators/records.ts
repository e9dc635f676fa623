import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'
import { maybe } from './values.ts'

const core = '/api/v1/namespaces/{ns}/events'
const events = '/apis/events.k8s.io/v1/namespaces/{ns}/events'
const leases = '/apis/coordination.k8s.io/v1/namespaces/{ns}/leases'
const merge = { 'content-type': 'application/merge-patch+json' }

/** Events by both of their groups, and leases: creation by one group and changes by the other, selectors, series, Tables, times. */
export function generateRecords(random: RandomChoices): Scenario {
  const steps: Step[] = []
  for (let i = 0; i < 3; i++)
    steps.push(random.chance(50) ? coreEvent(random, `make${i}`, `e${i}`) : event(random, `make${i}`, `e${i}`))
  steps.push(lease(random, 'lease'))
  for (let i = 0; i < 14; i++) steps.push(step(random, `s${i}`))
  return { area: 'records', steps }
}

const regarding: readonly JsonObject[] = [
  { kind: 'Pod', name: 'p', namespace: '{ns}', apiVersion: 'v1', uid: 'u', fieldPath: 'spec.containers{c}' },
  { kind: 'Pod', name: 'p', namespace: '{ns}' },
  { kind: 'Node', name: 'n' },
  { kind: 'Pod', name: 'p', namespace: 'other' },
  { kind: 'Namespace', name: '{ns}', namespace: '{ns}' },
  {},
]
const micro = ['2020-01-01T00:00:00.000001Z', '2020-01-01T00:00:00Z', '2020-01-01T00:00:00.123456+01:00', null, 'x', '2020-01-01']
const seconds = ['2020-01-01T00:00:00Z', '2020-01-01T00:00:00.5Z', null, '1577836800']

/** An event of the core group, mostly with the members of its age. */
function coreEvent(random: RandomChoices, id: string, name: string): Step {
  const json: JsonObject = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: random.chance(85) ? { name } : { generateName: 'e-{id}-' },
    involvedObject: random.pick(regarding),
    reason: random.pick(['R', '', 'x'.repeat(129)]),
    message: random.pick(['m', 'two\nlines', 'x'.repeat(1025)]),
    type: random.pick(['Normal', 'Warning', 'Other', '']),
    ...maybe(random, 60, () => ({ source: random.pick<JsonValue>([{ component: 'c' }, { component: 'c', host: 'h' }, {}]) })),
    ...maybe(random, 50, () => ({
      firstTimestamp: random.pick(seconds),
      lastTimestamp: random.pick(seconds),
      count: random.pick([0, 1, 7, -1]),
    })),
    ...maybe(random, 40, () => newMembers(random)),
    ...maybe(random, 20, () => ({ related: random.pick(regarding) })),
  }
  return { id, method: 'POST', path: core, query: query(random), body: { json } }
}

/** An event of the group events.k8s.io. */
function event(random: RandomChoices, id: string, name: string): Step {
  const json: JsonObject = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name },
    regarding: random.pick(regarding),
    ...maybe(random, 90, () => ({ reason: random.pick(['R', '', 'x'.repeat(129)]) })),
    ...maybe(random, 70, () => ({ note: random.pick(['m', 'x'.repeat(1025)]) })),
    type: random.pick(['Normal', 'Normal', 'Warning', 'Other']),
    eventTime: random.pick(micro),
    reportingController: random.pick(['example.com/c', 'c', 'a b', '']),
    reportingInstance: random.pick(['i', '', 'x'.repeat(129)]),
    action: random.pick(['A', '', 'x'.repeat(129)]),
    ...maybe(random, 25, () => ({ series: { count: random.pick([1, 2, 3, 0]), lastObservedTime: random.pick(micro) } })),
    ...maybe(random, 15, () => ({
      deprecatedCount: 2,
      deprecatedFirstTimestamp: '2020-01-01T00:00:00Z',
      deprecatedSource: { component: 'c' },
    })),
    ...maybe(random, 20, () => ({ related: random.pick(regarding) })),
  }
  return { id, method: 'POST', path: events, query: query(random), body: { json } }
}

function newMembers(random: RandomChoices): JsonObject {
  return {
    eventTime: random.pick(micro),
    reportingComponent: random.pick(['example.com/c', 'c', '']),
    reportingInstance: random.pick(['i', '']),
    action: random.pick(['A', '']),
    ...maybe(random, 40, () => ({ series: { count: random.pick([1, 2]), lastObservedTime: random.pick(micro) } })),
  }
}

function query(random: RandomChoices): [string, string][] {
  return random.chance(20) ? [['fieldValidation', 'Strict']] : []
}

function lease(random: RandomChoices, id: string): Step {
  const spec = leaseSpec(random)
  return {
    id,
    method: 'POST',
    path: leases,
    query: query(random),
    body: { json: { metadata: { name: 'l' }, ...(random.chance(90) ? { spec } : {}) } },
  }
}

function leaseSpec(random: RandomChoices): JsonObject {
  const all: JsonObject = {
    holderIdentity: random.pick(['h', '', 'x'.repeat(300)]),
    leaseDurationSeconds: random.pick([0, 1, 15, -1, 2_147_483_647]),
    leaseTransitions: random.pick([0, 1, -1]),
    acquireTime: random.pick(micro),
    renewTime: random.pick(micro),
    strategy: random.pick(['OldestEmulationVersion', 'example.com/x', 'Other', '']),
    preferredHolder: random.pick(['h', '']),
  }
  return Object.fromEntries(Object.entries(all).filter(() => random.chance(45)))
}

const fieldSelectors = [
  'involvedObject.kind=Pod',
  'involvedObject.name=p,reason=R',
  'involvedObject.apiVersion=v1',
  'involvedObject.fieldPath!=',
  'regarding.kind=Pod',
  'regarding.name=p',
  'reason!=R',
  'type=Normal',
  'source=c',
  'reportingComponent=c',
  'reportingController=example.com/c',
  'metadata.name=e0',
  'action=A',
]
const forms = [
  'application/json',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
]

function step(random: RandomChoices, id: string): Step {
  const at = `${random.pick([core, events])}/e${random.below(3)}`
  const headers = { accept: random.pick(forms) }
  switch (random.below(9)) {
    case 0:
      return { id, method: 'GET', path: at, headers }
    case 1:
      return {
        id,
        method: 'GET',
        path: random.pick([core, events]),
        query: [['fieldSelector', random.pick(fieldSelectors)]],
        headers,
      }
    case 2:
    case 3: {
      const isCore = at.startsWith(core)
      const change = random.pick<JsonObject>([
        { series: { count: random.pick([2, 3]), lastObservedTime: random.pick(micro) } },
        { series: null },
        isCore ? { count: 5, lastTimestamp: '2020-01-02T00:00:00Z' } : { deprecatedCount: 5 },
        isCore ? { message: 'n' } : { note: 'n' },
        { reason: 'S' },
        { type: 'Warning' },
        { action: 'B' },
        { eventTime: random.pick(micro) },
        isCore ? { involvedObject: { name: 'q' } } : { regarding: { name: 'q' } },
        { reportingInstance: 'j' },
        { metadata: { labels: { a: id } } },
      ])
      const type = random.pick(['merge', 'strategic-merge'])
      return {
        id,
        method: 'PATCH',
        path: at,
        headers: { 'content-type': `application/${type}-patch+json` },
        query: query(random),
        body: { json: change },
      }
    }
    case 4: {
      const apiVersion = at.startsWith(core) ? 'v1' : 'events.k8s.io/v1'
      const part = at.startsWith(core) ? { message: random.pick(['n', 'm']) } : { note: 'n', reason: 'R' }
      const json: JsonObject = { apiVersion, kind: 'Event', metadata: { name: at.slice(at.lastIndexOf('/') + 1) }, ...part }
      return {
        id,
        method: 'PATCH',
        path: at,
        headers: { 'content-type': 'application/apply-patch+yaml' },
        query: [
          ['fieldManager', 'm'],
          ['force', 'true'],
        ],
        body: { json },
      }
    }
    case 5:
      return {
        id,
        method: 'PATCH',
        path: `${leases}/l`,
        headers: merge,
        query: query(random),
        body: { json: { spec: leaseSpec(random) } },
      }
    case 6:
      return { id, method: 'GET', path: random.pick([leases, `${leases}/l`]), headers }
    case 7:
      return random.chance(50) ? coreEvent(random, id, `e${random.below(3)}`) : event(random, id, `e${random.below(3)}`)
    default:
      return { id, method: 'DELETE', path: at, query: random.chance(60) ? [['dryRun', 'All']] : [] }
  }
}
