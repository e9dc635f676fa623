import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const group = 'rbac.authorization.k8s.io'
const inNamespace = `${rbac}/namespaces/{ns}`
/** Time in which a change of roles reaches the authorizer. */
const settleMs = 200

/** What users with some rights may grant: roles and bindings that they create and change, with the verbs `escalate` and `bind`, and reviews. */
export function generateGrants(random: RandomChoices): Scenario {
  const manage = {
    apiGroups: [group],
    resources: ['roles', 'rolebindings', ...(random.chance(40) ? ['clusterroles', 'clusterrolebindings'] : [])],
    verbs: ['get', 'create', 'update', 'patch', 'delete', ...(random.chance(20) ? [random.pick(['escalate', 'bind'])] : [])],
  }
  const named = {
    apiGroups: [group],
    resources: ['roles', 'clusterroles'],
    verbs: ['bind', 'escalate'],
    resourceNames: ['{id}-free', 'view'],
  }
  const rules = [manage, ...(random.chance(40) ? [named] : []), ...Array.from({ length: 2 }, () => rule(random))]
  const steps: Step[] = [
    { id: 'role', method: 'POST', path: `${rbac}/clusterroles`, body: { json: { metadata: { name: '{id}-own' }, rules } } },
    {
      id: 'free',
      method: 'POST',
      path: `${inNamespace}/roles`,
      body: { json: { metadata: { name: '{id}-free' }, rules: [rule(random)] } },
    },
    {
      id: 'binding',
      method: 'POST',
      path: random.chance(30) ? `${rbac}/clusterrolebindings` : `${inNamespace}/rolebindings`,
      body: { json: { metadata: { name: '{id}-own' }, roleRef: ref('ClusterRole', '{id}-own'), subjects: [user('alice')] } },
      settleMs,
    },
  ]
  for (let i = 0; i < 11; i++) steps.push(random.pick(writes)(random, `s${i}`))
  return { area: 'grants', steps }
}

function ref(kind: string, name: string): JsonObject {
  return { apiGroup: group, kind, name }
}

function user(name: string): JsonObject {
  return { kind: 'User', name, apiGroup: group }
}

function rule(random: RandomChoices): JsonObject {
  if (random.chance(12))
    return {
      nonResourceURLs: some(random, ['/healthz', '/healthz/*', '/metrics', '*', '/a/*/b']),
      verbs: some(random, ['get', 'post', '*']),
    }
  return {
    apiGroups: some(random, ['', 'apps', '*', 'batch']),
    resources: some(random, [
      'pods',
      'pods/log',
      'pods/*',
      '*/scale',
      '*',
      'deployments',
      'deployments/scale',
      'configmaps',
      '*/*',
    ]),
    verbs: some(random, ['get', 'list', 'watch', 'create', 'delete', '*', 'impersonate']),
    ...(random.chance(25) ? { resourceNames: some(random, ['a', 'b', '']) } : {}),
  }
}

function some(random: RandomChoices, items: readonly string[]): string[] {
  return [...new Set(Array.from({ length: 1 + random.below(3) }, () => random.pick(items)))]
}

const who = ['alice', 'alice', 'alice', 'bob', 'admin']
const merge = { 'content-type': 'application/merge-patch+json' }

function createRole(random: RandomChoices, id: string): Step {
  const isCluster = random.chance(25)
  const labels = random.chance(15) ? { labels: { [`${group}/aggregate-to-view`]: 'true' } } : {}
  const aggregation = isCluster && random.chance(25) ? { aggregationRule: random.pick(aggregations) } : {}
  const rules = random.chance(8)
    ? random.pick<JsonValue>([[], null])
    : Array.from({ length: 1 + random.below(2) }, () => rule(random))
  const json = { metadata: { name: `{id}-${id}`, ...labels }, rules, ...aggregation }
  return {
    id,
    as: random.pick(who),
    method: 'POST',
    path: isCluster ? `${rbac}/clusterroles` : `${inNamespace}/roles`,
    body: { json },
  }
}

const aggregations: readonly JsonObject[] = [
  { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
  { clusterRoleSelectors: [] },
  { clusterRoleSelectors: [{}] },
  { clusterRoleSelectors: [{ matchExpressions: [{ key: 'a', operator: 'X' }] }] },
  {},
]

function changeRole(random: RandomChoices, id: string): Step {
  const rules = random.chance(20) ? random.pick<JsonValue>([[], null]) : [rule(random)]
  const change = random.chance(85) ? { rules } : { metadata: { labels: { a: 'b' } } }
  const as = random.pick(who)
  const [path, kind] = random.pick([
    [`${inNamespace}/roles/{id}-free`, 'Role'],
    [`${rbac}/clusterroles/{id}-own`, 'ClusterRole'],
    [`${rbac}/clusterroles/view`, 'ClusterRole'],
    [`${inNamespace}/roles/{id}-missing`, 'Role'],
  ] as const)
  const dry: [string, string][] = [['dryRun', 'All']]
  if (random.chance(50)) return { id, as, method: 'PATCH', path, query: dry, headers: merge, body: { json: change } }
  const metadata = { name: path.slice(path.lastIndexOf('/') + 1) }
  return { id, as, method: 'PUT', path, query: dry, body: { json: { apiVersion: `${group}/v1`, kind, metadata, rules } } }
}

const subjects: readonly JsonValue[] = [
  [user('bob')],
  [],
  null,
  [{ kind: 'User', name: 'bob' }],
  [{ kind: 'User', name: '' }],
  [{ kind: 'Group', name: 'system:masters', apiGroup: group }],
  [{ kind: 'ServiceAccount', name: 'default' }],
  [{ kind: 'ServiceAccount', name: 'default', namespace: '{ns}', apiGroup: '' }],
  [{ kind: 'ServiceAccount', name: 'system:serviceaccount:x:y', namespace: '{ns}' }],
  [{ kind: 'ServiceAccount', name: 'a', namespace: '{ns}', apiGroup: group }],
  [{ kind: 'Group', name: 'g', apiGroup: 'x' }],
  [{ kind: 'Robot', name: 'r' }],
  [user('bob'), user('bob')],
]
const refs: readonly JsonObject[] = [
  ref('Role', '{id}-free'),
  ref('ClusterRole', '{id}-own'),
  ref('ClusterRole', 'view'),
  ref('ClusterRole', 'cluster-admin'),
  ref('Role', 'none'),
  ref('ClusterRole', ''),
  ref('Robot', 'x'),
  { kind: 'Role', name: '{id}-free' },
  { apiGroup: 'x', kind: 'Role', name: '{id}-free' },
  ref('Role', 'a/b'),
]

function createBinding(random: RandomChoices, id: string): Step {
  const isCluster = random.chance(20)
  const json = { metadata: { name: `{id}-${id}` }, roleRef: random.pick(refs), subjects: random.pick(subjects) }
  const path = isCluster ? `${rbac}/clusterrolebindings` : `${inNamespace}/rolebindings`
  return { id, as: random.pick(who), method: 'POST', path, body: { json } }
}

function changeBinding(random: RandomChoices, id: string): Step {
  const path = `${inNamespace}/rolebindings/${random.pick(['{id}-own', '{id}-own', '{id}-s0', '{id}-s1'])}`
  const change = random.pick<JsonObject>([
    { subjects: random.pick(subjects) },
    { roleRef: random.pick(refs) },
    { metadata: { labels: { a: id } } },
  ])
  const query: [string, string][] = [['dryRun', 'All']]
  return { id, as: random.pick(who), method: 'PATCH', path, query, headers: merge, body: { json: change } }
}

function review(random: RandomChoices, id: string): Step {
  const attributes: Record<string, JsonValue> = {
    namespace: random.pick(['{ns}', '{ns}', '', 'other']),
    verb: random.pick(['get', 'list', 'watch', 'deletecollection', 'create', 'bind', 'escalate', '*', '']),
    group: random.pick(['', 'apps', group, '*']),
    resource: random.pick(['pods', 'configmaps', 'roles', 'deployments', '*', '']),
    ...(random.chance(25) ? { subresource: random.pick(['log', 'scale', '*']) } : {}),
    ...(random.chance(25) ? { name: random.pick(['a', '{id}-free', 'view']) } : {}),
  }
  if (random.chance(40)) attributes['fieldSelector'] = random.pick(fieldSelectors)
  if (random.chance(40)) attributes['labelSelector'] = random.pick(labelSelectors)
  const isSelf = random.chance(50)
  const spec: JsonObject = isSelf
    ? { resourceAttributes: attributes as JsonObject }
    : { resourceAttributes: attributes as JsonObject, user: random.pick(['alice', 'bob']), groups: ['dev'] }
  const path = `/apis/authorization.k8s.io/v1/${isSelf ? 'selfsubjectaccessreviews' : 'subjectaccessreviews'}`
  return { id, as: isSelf ? random.pick(who) : 'admin', method: 'POST', path, body: { json: { spec } } }
}

const requirement = (operator: string, values: JsonValue): JsonObject => ({ requirements: [{ key: 'a', operator, values }] })
const selectors: readonly JsonObject[] = [
  requirement('In', ['x']),
  requirement('NotIn', ['x']),
  requirement('Exists', []),
  requirement('DoesNotExist', null),
  requirement('In', []),
  requirement('In', ['x', 'y']),
  requirement('Exists', ['x']),
  requirement('Other', ['x']),
  requirement('', ['x']),
  { requirements: [] },
  { requirements: [{ key: '', operator: 'In', values: ['x'] }] },
  {},
]
const fieldSelectors: readonly JsonObject[] = [
  ...selectors,
  { rawSelector: 'a=b' },
  { rawSelector: '=' },
  { rawSelector: 'a=b', requirements: [{ key: 'a', operator: 'Exists' }] },
  { rawSelector: '' },
]
const labelSelectors: readonly JsonObject[] = [
  ...selectors,
  { rawSelector: 'a in (' },
  { rawSelector: 'a,!b' },
  { rawSelector: 'a', requirements: [] },
]

function rulesReview(random: RandomChoices, id: string): Step {
  const spec = { namespace: random.pick(['{ns}', '{ns}', '', 'other']) }
  return {
    id,
    as: random.pick(['alice', 'bob']),
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    body: { json: { spec } },
  }
}

const writes = [
  createRole,
  createRole,
  changeRole,
  changeRole,
  createBinding,
  createBinding,
  changeBinding,
  review,
  review,
  rulesReview,
]
