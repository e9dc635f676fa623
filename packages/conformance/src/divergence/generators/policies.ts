import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'

type Draft = Record<string, JsonValue>

const root = '/apis/admissionregistration.k8s.io/v1'
const inNamespace = '/api/v1/namespaces/{ns}'

/** The scenario's namespace alone. */
export const ownNamespace: JsonValue = { matchLabels: { 'kubernetes.io/metadata.name': '{ns}' } }

const expressions = [
  "object.metadata.name != 'o1'",
  "has(object.data) && 'a' in object.data",
  'object.data.size() < 2',
  "object.data['a'] == 'x'",
  'object.missing == 1',
  "request.operation == 'CREATE'",
  "request.userInfo.username == 'admin'",
  "'system:masters' in request.userInfo.groups",
  'oldObject == null || object.data == oldObject.data',
  "namespaceObject.metadata.name.startsWith('ns-')",
  'variables.name.size() < 3',
  '!has(object.metadata.labels) || object.metadata.labels.all(k, k.size() < 4)',
  "authorizer.group('').resource('configmaps').namespace('a').check('get').allowed()",
  'params == null || !has(params.data) || int(params.data.max) > 2',
  "params.data.max == '3'",
  "object.kind == 'ConfigMap'",
  'request.dryRun == false',
  "request.name.matches('^o[0-3]$')",
  '1 / int(object.data.a) > 0',
  'true',
  'false',
  "object.metadata.?labels['app'].orValue('none') != 'none'",
  "request.resource.resource == 'configmaps' && request.subResource == ''",
  'variables.count > 0',
  'has(request.options.fieldManager)',
  'object.metadata.annotations == oldObject.metadata.annotations',
] // prettier-ignore
const messages = [
  "'name is ' + object.metadata.name",
  "'count %d'.format([object.data.size()])",
  "''",
  "'a\\nb'",
  'object.missing',
  'params.data.max',
  "'  '",
  'variables.name',
] // prettier-ignore
const badExpressions = [
  '1',
  'foo',
  '1 +',
  '',
  'object.',
  "'a'",
  'params.x',
  'variables.none',
  'authorizer',
  'object.all(',
  "request.x == 'a'",
  'namespaceObject.status.x == 1',
]

/** Policies with parameters, variables, conditions and actions, and the writes that they judge. */
export function generatePolicies(random: RandomChoices): Scenario {
  const steps: Step[] = []
  for (let i = 0; i < 3; i++) {
    const policy = randomPolicy(random, `{id}-d${i}`)
    damage(policy, random)
    steps.push({
      id: `damaged${i}`,
      method: 'POST',
      path: `${root}/validatingadmissionpolicies`,
      query: [['dryRun', 'All']],
      body: { json: policy },
    })
  }
  const withParams = random.chance(50)
  if (withParams)
    steps.push({
      id: 'params',
      method: 'POST',
      path: `${inNamespace}/configmaps`,
      body: { json: { metadata: { name: 'params', labels: { p: 'q' } }, data: { max: random.pick(['1', '3', 'x']) } } },
    })
  steps.push({
    id: 'policy',
    method: 'POST',
    path: `${root}/validatingadmissionpolicies`,
    body: { json: randomPolicy(random, '{id}-p', withParams) },
  })
  steps.push({
    id: 'binding',
    method: 'POST',
    path: `${root}/validatingadmissionpolicybindings`,
    body: { json: randomBinding(random, withParams) },
  })
  steps.push(...canary())
  for (let i = 0; i < 8; i++) steps.push(judged(random, i))
  return { area: 'admission', steps }
}

/**
 * A further policy that refuses objects of one name, and its binding. Servers read all policies together, so that those before are in
 * effect when it is.
 */
export function canary(): Step[] {
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['CREATE'],
    resources: ['configmaps'],
    resourceNames: ['canary'],
  }
  const spec: Draft = { matchConstraints: { namespaceSelector: ownNamespace, resourceRules: [rule] } }
  spec['validations'] = [{ expression: "object.metadata.name != 'canary'" }]
  const binding = { policyName: '{id}-c', validationActions: ['Deny'] }
  const body = { json: { metadata: { name: 'canary' } } }
  const probe = { method: 'POST', path: `${inNamespace}/configmaps`, query: [['dryRun', 'All'] as const], body }
  const create = (id: string, kind: string, json: JsonValue): Step => ({
    id,
    method: 'POST',
    path: `${root}/${kind}`,
    body: { json },
  })
  return [
    create('canary', 'validatingadmissionpolicies', { metadata: { name: '{id}-c' }, spec }),
    {
      ...create('canarybinding', 'validatingadmissionpolicybindings', { metadata: { name: '{id}-c' }, spec: binding }),
      until: { step: probe, shows: '"status":"Failure"' },
    },
  ]
}

function randomPolicy(random: RandomChoices, name: string, withParams = random.chance(30)): Draft {
  const spec: Draft = {
    matchConstraints: {
      namespaceSelector: ownNamespace,
      resourceRules: [
        {
          apiGroups: ['', 'apps'],
          apiVersions: ['*'],
          operations: random.pick([['*'], ['CREATE', 'UPDATE'], ['CREATE', 'DELETE']]),
          resources: random.pick([['configmaps'], ['configmaps', 'pods'], ['*']]),
          // The selector of namespaces does not spare the cluster-scoped objects of other scenarios.
          scope: 'Namespaced',
        },
      ],
      ...(random.chance(15) ? { objectSelector: { matchLabels: { app: 'a' } } } : {}),
      ...(random.chance(15)
        ? {
            excludeResourceRules: [
              { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'], resourceNames: ['o2'] },
            ],
          }
        : {}),
      ...(random.chance(20) ? { matchPolicy: random.pick(['Exact', 'Equivalent']) } : {}),
    },
    validations: Array.from({ length: 1 + random.below(3) }, () => validation(random)),
  }
  if (random.chance(50)) spec['failurePolicy'] = random.pick(['Fail', 'Ignore'])
  if (withParams) spec['paramKind'] = { apiVersion: 'v1', kind: 'ConfigMap' }
  spec['variables'] = [
    { name: 'name', expression: 'object.metadata.name' },
    {
      name: 'count',
      expression: random.pick(['object.data.size()', 'variables.name.size()', 'has(object.data) ? object.data.size() : 0']),
    },
  ]
  if (random.chance(30))
    spec['matchConditions'] = [
      {
        name: random.pick(['first', 'a.b/c']),
        expression: random.pick([
          "request.operation != 'DELETE'",
          "object.metadata.name == 'o0'",
          'object.missing',
          'true',
          'false',
        ]),
      },
    ]
  if (random.chance(30))
    spec['auditAnnotations'] = [
      { key: 'note', valueExpression: random.pick(["'x'", 'object.metadata.name', 'null', "object.missing ? 'a' : 'b'"]) },
    ]
  return { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', metadata: { name }, spec }
}

function validation(random: RandomChoices): Draft {
  const result: Draft = { expression: random.pick(expressions) }
  if (random.chance(35)) result['message'] = random.pick(['is refused', 'no "quotes"', 'ünicode'])
  if (random.chance(30)) result['messageExpression'] = random.pick(messages)
  if (random.chance(30)) result['reason'] = random.pick(['Unauthorized', 'Forbidden', 'Invalid', 'RequestEntityTooLarge'])
  return result
}

function randomBinding(random: RandomChoices, withParams: boolean): JsonValue {
  const spec: Draft = {
    policyName: '{id}-p',
    validationActions: random.pick([['Deny'], ['Deny'], ['Deny', 'Audit'], ['Warn'], ['Warn', 'Audit'], ['Audit']]),
    matchResources: { namespaceSelector: ownNamespace },
  }
  if (withParams)
    spec['paramRef'] = {
      ...random.pick<Draft>([{ name: 'params' }, { selector: { matchLabels: { p: 'q' } } }, { name: 'missing' }]),
      namespace: '{ns}',
      parameterNotFoundAction: random.pick(['Deny', 'Allow']),
    }
  return { metadata: { name: '{id}-b' }, spec }
}

function damage(policy: Draft, random: RandomChoices): void {
  const spec = policy['spec'] as Draft
  const [first] = spec['validations'] as Draft[]
  switch (random.below(8)) {
    case 0:
    case 1:
      Object.assign(first ?? {}, { expression: random.pick(badExpressions) })
      return
    case 2:
      Object.assign(first ?? {}, { messageExpression: random.pick(['1', 'foo', '1 +', ' ']) })
      return
    case 3:
      Object.assign(
        first ?? {},
        random.pick<Draft>([
          { reason: 'Other' },
          { message: 'a\nb' },
          { message: ' ' },
          { reason: '' },
          { expression: 'a\nb', message: '' },
        ]),
      )
      return
    case 4:
      spec['variables'] = random.pick<JsonValue>([
        [{ name: 'a-b', expression: '1' }],
        [{ name: 'a', expression: 'foo' }],
        [{ name: '', expression: '' }],
        [
          { name: 'a', expression: '1' },
          { name: 'a', expression: '2' },
        ],
      ])
      return
    case 5:
      spec['matchConditions'] = random.pick<JsonValue>([
        [{ name: '', expression: 'true' }],
        [{ name: 'a b', expression: '1' }],
        [
          { name: 'a', expression: 'x' },
          { name: 'a', expression: 'true' },
        ],
      ])
      return
    case 6:
      spec['auditAnnotations'] = random.pick<JsonValue>([
        [{ key: '', valueExpression: '' }],
        [{ key: 'a b', valueExpression: '1' }],
        [
          { key: 'a', valueExpression: "'x'" },
          { key: 'a', valueExpression: "'y'" },
        ],
      ])
      return
    default:
      Object.assign(
        spec,
        random.pick<Draft>([
          { failurePolicy: 'Other' },
          { paramKind: { apiVersion: '', kind: '' } },
          { matchConstraints: null },
          { validations: [] },
          { paramKind: { apiVersion: 'a/b/c', kind: 'X' } },
        ]),
      )
  }
}

/** A write that a policy or webhook may refuse. */
export function judged(random: RandomChoices, i: number): Step {
  const name = `o${random.below(4)}`
  const path = `${inNamespace}/configmaps`
  const labels = random.pick<JsonValue>([{ app: 'a' }, { app: 'b', longer: 'x' }, {}])
  const data = random.pick<JsonValue>([{ a: 'x' }, { a: '1', b: '2' }, { a: '0' }, {}])
  const json = { metadata: { name, labels }, data }
  const query: [string, string][] = random.chance(15) ? [['dryRun', 'All']] : []
  switch (random.below(7)) {
    case 0:
      return { id: `update${i}`, method: 'PUT', path: `${path}/${name}`, query, body: { json } }
    case 1:
      return {
        id: `patch${i}`,
        method: 'PATCH',
        path: `${path}/${name}`,
        query,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { json: { data } },
      }
    case 2:
      return {
        id: `apply${i}`,
        method: 'PATCH',
        path: `${path}/${name}`,
        query: [...query, ['fieldManager', 'm'], ['force', 'true']],
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: { json: { apiVersion: 'v1', kind: 'ConfigMap', ...json } },
      }
    case 3:
      return { id: `delete${i}`, method: 'DELETE', path: `${path}/${name}`, query }
    default:
      return { id: `create${i}`, method: 'POST', path, query, body: { json } }
  }
}
