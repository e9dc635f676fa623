import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonValue } from '@krmkit/meta'
import type { Probe, Scenario, Step } from '../scenario.ts'
import { judged, ownNamespace } from './policies.ts'

type Draft = Record<string, JsonValue>

const root = '/apis/admissionregistration.k8s.io/v1'
/** Mutating and validating webhooks of the harness, writes that call them, and the reviews that they got. */
export function generateWebhooks(random: RandomChoices): Scenario {
  const steps: Step[] = []
  // Mutating webhooks may refuse what shall reach the validating ones.
  for (const kind of ['validating', 'mutating'] as const) {
    if (random.chance(25)) continue
    const webhooks = Array.from({ length: random.pick([1, 1, 2]) }, (_, i) => randomWebhook(kind, i, random))
    const json = { metadata: { name: `{id}-${kind}` }, webhooks: [...webhooks, canary(kind)] }
    const path = `${root}/${kind}webhookconfigurations`
    steps.push({ id: kind, method: 'POST', path, body: { json }, until: refusing(kind) })
  }
  for (let i = 0; i < 8; i++) {
    steps.push(judged(random, i))
    steps.push({ id: `reviews${i}`, method: 'GET', path: '{hook}/{id}' })
  }
  return { area: 'admission', steps }
}

/** A webhook that refuses what has its label, by which the harness sees that its configuration is in effect. */
function canary(kind: string): JsonValue {
  const answer = Buffer.from(JSON.stringify({ allowed: false })).toString('base64url')
  return {
    name: `${kind.charAt(0)}canary.example.com`,
    clientConfig: { url: `{hook}/{id}/canary/${answer}`, caBundle: '{caBundle}' },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    namespaceSelector: ownNamespace,
    objectSelector: { matchLabels: { canary: kind } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  }
}

/** Any webhook of the configuration may be the one that refuses. */
function refusing(kind: string): Probe {
  const body = { json: { metadata: { name: 'canary', labels: { canary: kind } }, data: { a: 'x' } } }
  const path = '/api/v1/namespaces/{ns}/configmaps'
  return {
    step: { method: 'POST', path, query: [['dryRun', 'All']], body },
    shows: `admission webhook \\"${kind.charAt(0)}`,
  }
}

function randomWebhook(kind: 'mutating' | 'validating', i: number, random: RandomChoices): JsonValue {
  const response = kind === 'mutating' && random.chance(75) ? patching(random) : answering(random)
  const name = `${kind.charAt(0)}${i}.example.com`
  const answer = Buffer.from(JSON.stringify(response)).toString('base64url')
  const webhook: Draft = {
    name,
    clientConfig: { url: `{hook}/{id}/${name}/${answer}`, caBundle: '{caBundle}' },
    rules: [
      {
        apiGroups: [''],
        apiVersions: ['v1'],
        operations: random.pick([['*'], ['CREATE'], ['CREATE', 'UPDATE', 'DELETE']]),
        resources: ['configmaps'],
      },
    ],
    namespaceSelector: ownNamespace,
    sideEffects: random.pick(['None', 'None', 'NoneOnDryRun']),
    admissionReviewVersions: random.pick([['v1'], ['v1'], ['v2', 'v1']]),
  }
  if (random.chance(50)) webhook['failurePolicy'] = random.pick(['Fail', 'Ignore'])
  if (random.chance(20)) webhook['objectSelector'] = { matchLabels: { app: 'a' } }
  if (random.chance(20))
    webhook['matchConditions'] = [
      {
        name: 'c',
        expression: random.pick(["object.metadata.name != 'o1'", 'object.missing', 'true', "request.operation == 'CREATE'"]),
      },
    ]
  if (kind === 'mutating' && random.chance(30)) webhook['reinvocationPolicy'] = 'IfNeeded'
  return webhook
}

function answering(random: RandomChoices): Draft {
  return random.pick<Draft>([
    { allowed: true },
    { allowed: true, warnings: ['first', 'x'.repeat(300), ''] },
    { allowed: true, auditAnnotations: { a: 'b' } },
    { allowed: false },
    { allowed: false, status: { message: 'no way', code: 403 } },
    { allowed: false, status: { message: 'bad', code: 422, reason: 'Invalid' } },
    { allowed: false, status: { reason: 'because' }, warnings: ['w'] },
    { allowed: false, status: { code: 200, message: 'fine' } },
    { allowed: true, patchType: 'JSONPatch', patch: encoded([{ op: 'add', path: '/data/x', value: 'y' }]) },
    { uid: 'other', allowed: true },
  ])
}

function patching(random: RandomChoices): Draft {
  const operations = random.pick<JsonValue>([
    [{ op: 'add', path: '/metadata/labels/hooked', value: 'yes' }],
    [{ op: 'add', path: '/data/hooked', value: 'yes' }],
    [{ op: 'replace', path: '/data', value: { z: '1' } }],
    [{ op: 'remove', path: '/data/a' }],
    [{ op: 'add', path: '/metadata/annotations', value: { 'example.com/a': 'b' } }],
    [
      { op: 'test', path: '/data/a', value: 'x' },
      { op: 'add', path: '/data/b', value: 'c' },
    ],
    [{ op: 'add', path: '/unknown', value: 1 }],
    [{ op: 'add', path: '/data/n', value: 5 }],
    [{ op: 'replace', path: '/metadata/name', value: 'other' }],
    [],
  ]) // prettier-ignore
  return { allowed: true, patchType: 'JSONPatch', patch: encoded(operations) }
}

function encoded(value: JsonValue): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}
