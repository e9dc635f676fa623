import type { JsonValue } from '@krmkit/meta'
import type { Dice } from '../../attacks/harness/dice.ts'
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

function some<T>(dice: Dice, items: readonly T[]): T[] {
  return Array.from({ length: 1 + dice.below(2) }, () => dice.pick(items))
}

function rule(dice: Dice): JsonValue {
  if (dice.chance(10))
    return { nonResourceURLs: [dice.pick(['/healthz', '/metrics', '/x/*', '*'])], verbs: some(dice, ['get', 'post', '*']) }
  return {
    apiGroups: some(dice, groups),
    resources: some(dice, resources),
    verbs: some(dice, verbs),
    ...(dice.chance(20) ? { resourceNames: some(dice, ['a', 'b']) } : {}),
  }
}

function subject(dice: Dice): JsonValue {
  return dice.pick<JsonValue>([
    { kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' },
    { kind: 'User', name: 'bob', apiGroup: 'rbac.authorization.k8s.io' },
    { kind: 'Group', name: 'dev', apiGroup: 'rbac.authorization.k8s.io' },
    { kind: 'Group', name: 'ops', apiGroup: 'rbac.authorization.k8s.io' },
    { kind: 'ServiceAccount', name: 'default', namespace: '{ns}' },
  ])
}

/** Roles and bindings, what users may then do, escalation, impersonation, and access reviews. */
export function generateAccess(dice: Dice): Scenario {
  const steps: Step[] = []
  const isCluster = dice.chance(20)
  const rules = Array.from({ length: 1 + dice.below(3) }, () => rule(dice))
  const role = isCluster
    ? { kind: 'ClusterRole', path: `${rbac}/clusterroles` }
    : { kind: 'Role', path: `${rbac}/namespaces/{ns}/roles` }
  steps.push({ id: 'role', method: 'POST', path: role.path, body: { json: { metadata: { name: '{id}-r' }, rules } } })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: role.kind, name: '{id}-r' }
  steps.push({
    id: 'binding',
    method: 'POST',
    path: `${rbac}/namespaces/{ns}/rolebindings`,
    body: { json: { metadata: { name: '{id}-b' }, roleRef, subjects: [subject(dice), subject(dice)] } },
    settleMs,
  })
  for (let i = 0; i < 8; i++) {
    switch (dice.below(7)) {
      case 0:
        steps.push({
          id: `escalate${i}`,
          as: dice.pick(['alice', 'bob']),
          method: 'POST',
          path: `${rbac}/namespaces/{ns}/roles`,
          body: { json: { metadata: { name: `{id}-e${i}` }, rules: [rule(dice)] } },
        })
        break
      case 1:
        steps.push({
          id: `bind${i}`,
          as: dice.pick(['alice', 'bob']),
          method: 'POST',
          path: `${rbac}/namespaces/{ns}/rolebindings`,
          body: {
            json: {
              metadata: { name: `{id}-b${i}` },
              roleRef: dice.pick([roleRef, { ...roleRef, kind: 'ClusterRole', name: 'view' }, { ...roleRef, name: 'none' }]),
              subjects: [subject(dice)],
            },
          },
        })
        break
      case 2:
        steps.push(review(dice, i))
        break
      case 3:
        steps.push({
          id: `as${i}`,
          as: dice.pick(users),
          method: 'GET',
          path: '/api/v1/namespaces/{ns}/configmaps',
          headers: impersonation(dice),
        })
        break
      case 4:
        steps.push({
          id: `who${i}`,
          as: dice.pick(users),
          method: 'POST',
          path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
          headers: impersonation(dice),
          body: { json: {} },
        })
        break
      default:
        steps.push(attempt(dice, i))
    }
  }
  return { area: 'access', steps }
}

function impersonation(dice: Dice): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {}
  if (dice.chance(80))
    headers['impersonate-user'] = dice.pick(['alice', 'bob', 'system:serviceaccount:{ns}:default', 'system:anonymous', 'x'])
  if (dice.chance(30)) headers['impersonate-group'] = dice.pick<string | string[]>(['dev', ['dev', 'ops'], 'system:masters'])
  if (dice.chance(10)) headers['impersonate-uid'] = 'u'
  if (dice.chance(10)) headers['impersonate-extra-scopes'] = ['a', 'b']
  return headers
}

function attempt(dice: Dice, i: number): Step {
  const as = dice.pick(users)
  const resource = dice.pick(['pods', 'configmaps', 'secrets', 'serviceaccounts', 'endpoints'])
  const path = `/api/v1/namespaces/{ns}/${resource}`
  switch (dice.below(5)) {
    case 0:
      return { id: `try${i}`, as, method: 'POST', path, query: [['dryRun', 'All']], body: { json: { metadata: { name: 'a' } } } }
    case 1:
      return { id: `try${i}`, as, method: 'GET', path: `${path}/a${dice.pick(['', '/log', '/status', '/x'])}` }
    case 2:
      return { id: `try${i}`, as, method: 'DELETE', path: dice.chance(50) ? path : `${path}/a` }
    case 3:
      return {
        id: `try${i}`,
        as,
        method: 'GET',
        path: dice.pick(['/healthz', '/metrics', '/x/y', '/api', '/apis/apps/v1', '/version', '/logs', '/openapi/v2x']),
      }
    default:
      return { id: `try${i}`, as, method: 'GET', path }
  }
}

function review(dice: Dice, i: number): Step {
  const attributes = {
    namespace: dice.pick(['{ns}', '', 'other']),
    verb: dice.pick(verbs),
    group: dice.pick(groups),
    resource: dice.pick(resources),
    name: dice.pick(['', 'a']),
    ...(dice.chance(20) ? { subresource: 'log' } : {}),
    ...(dice.chance(10) ? { version: 'v1' } : {}),
  }
  const spec = dice.pick<Record<string, JsonValue>>([
    { resourceAttributes: attributes },
    { resourceAttributes: attributes },
    { nonResourceAttributes: { path: '/healthz', verb: 'get' } },
    {},
    { resourceAttributes: attributes, nonResourceAttributes: { path: '/x', verb: 'get' } },
  ])
  const path = '/apis/authorization.k8s.io/v1'
  switch (dice.below(4)) {
    case 0:
      return {
        id: `self${i}`,
        as: dice.pick(users),
        method: 'POST',
        path: `${path}/selfsubjectaccessreviews`,
        body: { json: { spec } },
      }
    case 1:
      return {
        id: `rules${i}`,
        as: dice.pick(['alice', 'bob', 'anonymous']),
        method: 'POST',
        path: `${path}/selfsubjectrulesreviews`,
        body: { json: { spec: { namespace: dice.pick(['{ns}', '', 'other']) } } },
      }
    case 2:
      return {
        id: `local${i}`,
        method: 'POST',
        path: `${path}/namespaces/{ns}/localsubjectaccessreviews`,
        body: { json: { metadata: { namespace: '{ns}' }, spec: { ...spec, user: dice.pick(['alice', '']), groups: ['dev'] } } },
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
              user: dice.pick(['alice', 'bob', '']),
              groups: dice.pick([['dev'], ['ops', 'system:authenticated'], []]),
              uid: 'u',
              extra: { a: ['b'] },
            },
          },
        },
      }
  }
}
