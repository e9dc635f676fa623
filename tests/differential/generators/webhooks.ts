import type { JsonValue } from '@krmkit/meta'
import type { Dice } 
import type { Scenario, Step } from '../scenario.ts'
import { judged, ownNamespace } from './policies.ts'

type Draft = Record<string, JsonValue>

const root = '/apis/admissionregistration.k8s.io/v1'
/** Time in which webhooks take effect, in milliseconds. */
const settleMs = 700

/** Mutating and validating webhooks of the harness, writes that call them, and the reviews that they got. */
export function generateWebhooks(dice: Dice): Scenario {
  const steps: Step[] = []
  for (const kind of ['mutating', 'validating'] as const) {
    if (dice.chance(25)) continue
    const webhooks = Array.from({ length: dice.pick([1, 1, 2]) }, (_, i) => randomWebhook(kind, i, dice))
    const json = { metadata: { name: `{id}-${kind}` }, webhooks }
    steps.push({ id: kind, method: 'POST', path: `${root}/${kind}webhookconfigurations`, body: { json }, settleMs })
  }
  for (let i = 0; i < 8; i++) {
    steps.push(judged(dice, i))
    steps.push({ id: `reviews${i}`, method: 'GET', path: '{hook}/{id}' })
  }
  return { area: 'admission', steps }
}

function randomWebhook(kind: 'mutating' | 'validating', i: number, dice: Dice): JsonValue {
  const response = kind === 'mutating' && dice.chance(75) ? patching(dice) : answering(dice)
  const name = `${kind.charAt(0)}${i}.example.com`
  const answer = Buffer.from(JSON.stringify(response)).toString('base64url')
  const webhook: Draft = {
    name,
    clientConfig: { url: `{hook}/{id}/${name}/${answer}`, caBundle: '{caBundle}' },
    rules: [
      {
        apiGroups: [''],
        apiVersions: ['v1'],
        operations: dice.pick([['*'], ['CREATE'], ['CREATE', 'UPDATE', 'DELETE']]),
        resources: ['configmaps'],
      },
    ],
    namespaceSelector: ownNamespace,
    sideEffects: dice.pick(['None', 'None', 'NoneOnDryRun']),
    admissionReviewVersions: dice.pick([['v1'], ['v1'], ['v2', 'v1']]),
  }
  if (dice.chance(50)) webhook['failurePolicy'] = dice.pick(['Fail', 'Ignore'])
  if (dice.chance(20)) webhook['objectSelector'] = { matchLabels: { app: 'a' } }
  if (dice.chance(20))
    webhook['matchConditions'] = [
      {
        name: 'c',
        expression: dice.pick(["object.metadata.name != 'o1'", 'object.missing', 'true', "request.operation == 'CREATE'"]),
      },
    ]
  if (kind === 'mutating' && dice.chance(30)) webhook['reinvocationPolicy'] = 'IfNeeded'
  return webhook
}

function answering(dice: Dice): Draft {
  return dice.pick<Draft>([
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

function patching(dice: Dice): Draft {
  const operations = dice.pick<JsonValue>([
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
