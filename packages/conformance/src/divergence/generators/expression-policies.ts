import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'
import { randomSpec, schemaOf, specStructs } from './expression-objects.ts'
import { randomExpression } from './expression-text.ts'
import { canary, ownNamespace } from './policies.ts'

type Draft = Record<string, JsonValue>

const plural = 'judged'
const group = '{id}.judged.example.com'
const objects = `/apis/${group}/v1/namespaces/{ns}/${plural}`
const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
const bindings = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings'

const { t: _text, ...members } = specStructs.self
const structs = {
  // Policies read objects without a schema, so a timestamp is a text.
  self: { ...members, t: 'string' },
  inner: specStructs.inner,
  object: { spec: 'self', metadata: 'meta', kind: 'string' },
  meta: { name: 'string', namespace: 'string', uid: 'string', labels: 'map(string, string)' },
  params: { data: 'map(string, string)', metadata: 'meta' },
  request: { name: 'string', operation: 'string', dryRun: 'bool', userInfo: 'user', uid: 'string' },
  user: { username: 'string', groups: 'list(string)' },
  variables: { text: 'string', number: 'int', list: 'list(string)' },
} as const

const conditionVariables = [
  { text: 'request', type: 'request' },
  { text: 'oldObject', type: 'object' },
  { text: 'object', type: 'object' },
]
const variables = [{ text: 'params', type: 'params' }, { text: 'variables', type: 'variables' }, ...conditionVariables]

/** Policies with random expressions, which are compiled; and one in effect, with the objects of a definition that it judges. */
export function generateExpressionPolicies(random: RandomChoices): Scenario {
  const create = (id: string, path: string, json: JsonValue): Step => ({ id, method: 'POST', path, body: { json } })
  const steps: Step[] = []
  for (let i = 0; i < 4; i++)
    steps.push({ ...create(`compiled${i}`, policies, randomPolicy(random, `{id}-c${i}`)), query: [['dryRun', 'All']] })
  steps.push(
    {
      ...create('definition', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definitionOf(random)),
      until: { step: { method: 'GET', path: `/apis/${group}/v1` }, shows: `"name":"${plural}"` },
    },
    create('params', '/api/v1/namespaces/{ns}/configmaps', {
      metadata: { name: 'params', labels: { a: 'b' } },
      data: random.pick<JsonValue>([{ a: 'x', max: '3' }, { a: '' }, {}]),
    }),
    create('policy', policies, randomPolicy(random, '{id}-p')),
    create('binding', bindings, {
      metadata: { name: '{id}-p' },
      spec: {
        policyName: '{id}-p',
        validationActions: random.pick([['Deny'], ['Deny'], ['Warn', 'Audit']]),
        paramRef: { name: 'params', namespace: '{ns}', parameterNotFoundAction: 'Deny' },
      },
    }),
    ...canary(),
  )
  for (let i = 0; i < 10; i++) steps.push(randomWrite(random, i))
  return { area: 'expressions', steps }
}

function definitionOf(random: RandomChoices): JsonValue {
  const openAPIV3Schema = schemaOf([], random)
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: 'judge', kind: 'Judge', listKind: 'JudgeList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  }
}

function randomPolicy(random: RandomChoices, name: string): JsonValue {
  const write = (type: string, scope = variables) =>
    randomExpression(type, 1 + random.below(3), random, { variables: scope, structs, release: '1.32' })
  const known = conditionVariables
  const spec: Draft = {
    failurePolicy: random.pick(['Fail', 'Fail', 'Ignore']),
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    matchConstraints: {
      namespaceSelector: ownNamespace,
      resourceRules: [{ apiGroups: [group], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
    },
    variables: [
      { name: 'text', expression: write('string', known) },
      { name: 'number', expression: write('int', known) },
      { name: 'list', expression: write('list(string)', known) },
    ],
    validations: Array.from({ length: 1 + random.below(2) }, () => ({
      expression: write('bool'),
      ...(random.chance(50) ? { messageExpression: write('string') } : {}),
    })),
  }
  if (random.chance(30)) spec['matchConditions'] = [{ name: 'first', expression: write('bool', known) }]
  if (random.chance(30)) spec['auditAnnotations'] = [{ key: 'note', valueExpression: write('string') }]
  return { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', metadata: { name }, spec }
}

function randomWrite(random: RandomChoices, i: number): Step {
  const name = `o${random.below(3)}`
  const labels = random.pick<JsonValue>([{ a: 'b' }, { app: 'x', 'a/b': '' }])
  const json = { apiVersion: `${group}/v1`, kind: 'Judge', metadata: { name, labels }, spec: randomSpec(random) }
  const path = `${objects}/${name}`
  const query: [string, string][] = random.chance(20) ? [['dryRun', 'All']] : []
  switch (random.below(6)) {
    case 0:
      return { id: `delete${i}`, method: 'DELETE', path, query }
    case 1:
      return {
        id: `patch${i}`,
        method: 'PATCH',
        path,
        query,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { json: { spec: randomSpec(random) } },
      }
    case 2:
      return {
        id: `apply${i}`,
        method: 'PATCH',
        path,
        query: [...query, ['fieldManager', 'm'], ['force', 'true']],
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: { json },
      }
    default:
      return { id: `create${i}`, method: 'POST', path: objects, query, body: { json } }
  }
}
