import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'

const verbs = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  '*',
  'bind',
  'escalate',
  'impersonate',
]
const resources = [
  'pods',
  'pods/log',
  'configmaps',
  'secrets',
  '*',
  'pods/*',
  '*/status',
  'roles',
  'rolebindings',
  'users',
  'serviceaccounts',
  'deployments',
]
const groups = ['', 'apps', 'rbac.authorization.k8s.io', '*']
const users = ['alice', 'bob', 'anonymous', 'node1', 'admin']
const rbac = '/apis/rbac.authorization.k8s.io/v1'

/** Time in which a change of roles reaches the authorizer. */
const settleMs = 150

function some<T>(random: RandomChoices, items: readonly T[]): T[] {
  return Array.from({ length: 1 + random.below(2) }, () => random.pick(items))
}

function rule(random: RandomChoices): JsonValue {
  if (random.chance(10))
    return { nonResourceURLs: [random.pick(['/healthz', '/metrics', '/x/*', '*'])], verbs: some(random, ['get', 'post', '*']) }
  return {
    apiGroups: some(random, groups),
    resources: some(random, resources),
    verbs: some(random, verbs),
    ...(random.chance(20) ? { resourceNames: some(random, ['a', 'b']) } : {}),
  }
}

function subject(random: RandomChoices): JsonValue {
  return random.pick<JsonValue>([
    { kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' },
    { kind: 'User', name: 'bob', apiGroup: 'rbac.authorization.k8s.io' },
    { kind: 'Group', name: 'dev', apiGroup: 'rbac.authorization.k8s.io' },
    { kind: 'Group', name: 'ops', apiGroup: 'rbac.authorization.k8s.io' },
    { kind: 'ServiceAccount', name: 'default', namespace: '{ns}' },
  ])
}

/** Roles and bindings, what users may then do, escalation, impersonation, and access reviews. */
export function generateAccess(random: RandomChoices): Scenario {
  const steps: Step[] = []
  const isCluster = random.chance(20)
  const rules = Array.from({ length: 1 + random.below(3) }, () => rule(random))
  const role = isCluster
    ? { kind: 'ClusterRole', path: `${rbac}/clusterroles` }
    : { kind: 'Role', path: `${rbac}/namespaces/{ns}/roles` }
  steps.push({ id: 'role', method: 'POST', path: role.path, body: { json: { metadata: { name: '{id}-r' }, rules } } })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: role.kind, name: '{id}-r' }
  steps.push({
    id: 'binding',
    method: 'POST',
    path: `${rbac}/namespaces/{ns}/rolebindings`,
    body: { json: { metadata: { name: '{id}-b' }, roleRef, subjects: [subject(random), subject(random)] } },
    settleMs,
  })
  for (let i = 0; i < 8; i++) {
    switch (random.below(7)) {
      case 0:
        steps.push({
          id: `escalate${i}`,
          as: random.pick(['alice', 'bob']),
          method: 'POST',
          path: `${rbac}/namespaces/{ns}/roles`,
          body: { json: { metadata: { name: `{id}-e${i}` }, rules: [rule(random)] } },
        })
        break
      case 1:
        steps.push({
          id: `bind${i}`,
          as: random.pick(['alice', 'bob']),
          method: 'POST',
          path: `${rbac}/namespaces/{ns}/rolebindings`,
          body: {
            json: {
              metadata: { name: `{id}-b${i}` },
              roleRef: random.pick([roleRef, { ...roleRef, kind: 'ClusterRole', name: 'view' }, { ...roleRef, name: 'none' }]),
              subjects: [subject(random)],
            },
          },
        })
        break
      case 2:
        steps.push(review(random, i))
        break
      case 3:
        steps.push({
          id: `as${i}`,
          as: random.pick(users),
          method: 'GET',
          path: '/api/v1/namespaces/{ns}/configmaps',
          headers: impersonation(random),
        })
        break
      case 4:
        steps.push({
          id: `who${i}`,
          as: random.pick(users),
          method: 'POST',
          path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
          headers: impersonation(random),
          body: { json: {} },
        })
        break
      default:
        steps.push(attempt(random, i))
    }
  }
  return { area: 'access', steps }
}

function impersonation(random: RandomChoices): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {}
  if (random.chance(80))
    headers['impersonate-user'] = random.pick(['alice', 'bob', 'system:serviceaccount:{ns}:default', 'system:anonymous', 'x'])
  if (random.chance(30)) headers['impersonate-group'] = random.pick<string | string[]>(['dev', ['dev', 'ops'], 'system:masters'])
  if (random.chance(10)) headers['impersonate-uid'] = 'u'
  if (random.chance(10)) headers['impersonate-extra-scopes'] = ['a', 'b']
  return headers
}

function attempt(random: RandomChoices, i: number): Step {
  const as = random.pick(users)
  const resource = random.pick(['pods', 'configmaps', 'secrets', 'serviceaccounts', 'endpoints'])
  const path = `/api/v1/namespaces/{ns}/${resource}`
  switch (random.below(5)) {
    case 0:
      return { id: `try${i}`, as, method: 'POST', path, query: [['dryRun', 'All']], body: { json: { metadata: { name: 'a' } } } }
    case 1:
      return { id: `try${i}`, as, method: 'GET', path: `${path}/a${random.pick(['', '/log', '/status', '/x'])}` }
    case 2:
      return { id: `try${i}`, as, method: 'DELETE', path: random.chance(50) ? path : `${path}/a` }
    case 3:
      return {
        id: `try${i}`,
        as,
        method: 'GET',
        path: random.pick(['/healthz', '/metrics', '/x/y', '/api', '/apis/apps/v1', '/version', '/logs', '/openapi/v2x']),
      }
    default:
      return { id: `try${i}`, as, method: 'GET', path }
  }
}

function review(random: RandomChoices, i: number): Step {
  const attributes = {
    namespace: random.pick(['{ns}', '', 'other']),
    verb: random.pick(verbs),
    group: random.pick(groups),
    resource: random.pick(resources),
    name: random.pick(['', 'a']),
    ...(random.chance(20) ? { subresource: 'log' } : {}),
    ...(random.chance(10) ? { version: 'v1' } : {}),
  }
  const spec = random.pick<Record<string, JsonValue>>([
    { resourceAttributes: attributes },
    { resourceAttributes: attributes },
    { nonResourceAttributes: { path: '/healthz', verb: 'get' } },
    {},
    { resourceAttributes: attributes, nonResourceAttributes: { path: '/x', verb: 'get' } },
  ])
  const path = '/apis/authorization.k8s.io/v1'
  switch (random.below(4)) {
    case 0:
      return {
        id: `self${i}`,
        as: random.pick(users),
        method: 'POST',
        path: `${path}/selfsubjectaccessreviews`,
        body: { json: { spec } },
      }
    case 1:
      return {
        id: `rules${i}`,
        as: random.pick(['alice', 'bob', 'anonymous']),
        method: 'POST',
        path: `${path}/selfsubjectrulesreviews`,
        body: { json: { spec: { namespace: random.pick(['{ns}', '', 'other']) } } },
      }
    case 2:
      return {
        id: `local${i}`,
        method: 'POST',
        path: `${path}/namespaces/{ns}/localsubjectaccessreviews`,
        body: { json: { metadata: { namespace: '{ns}' }, spec: { ...spec, user: random.pick(['alice', '']), groups: ['dev'] } } },
      }
    default:
      return {
        id: `subject${i}`,
        method: 'POST',
        path: `${path}/subjectaccessreviews`,
        body: {
          json: {
            spec: {
              ...spec,
              user: random.pick(['alice', 'bob', '']),
              groups: random.pick([['dev'], ['ops', 'system:authenticated'], []]),
              uid: 'u',
              extra: { a: ['b'] },
            },
          },
        },
      }
  }
}
