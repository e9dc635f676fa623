/** Decisions with 10 000 bindings: each for another user, or all for one group of all users. */
import { type Attributes, createRbacAuthorizer, type StoredObject } from '@krmkit/authorization'
import { bootstrapPolicy } from '@krmkit/authorization/bootstrap'

const apiVersion = 'rbac.authorization.k8s.io/v1'
const bindings = 10_000

export type Row = readonly [name: string, run: () => unknown]

/** A role, binding and namespace for each of many users, besides the default roles and bindings. */
export function manyBindings(
  kind: 'RoleBinding' | 'ClusterRoleBinding',
  subject: (i: number) => object,
  count = bindings,
): StoredObject[] {
  const { clusterRoles, clusterRoleBindings, roles, roleBindings } = bootstrapPolicy()
  const own = Array.from({ length: count }, (_, i): StoredObject[] => [
    {
      apiVersion,
      kind: 'ClusterRole',
      metadata: { name: `role-${i}` },
      rules: [
        { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['get', 'list', 'watch'], resourceNames: [`name-${i}`] },
        { apiGroups: ['apps'], resources: ['deployments', 'deployments/scale'], verbs: ['get', 'update'] },
      ],
    },
    {
      apiVersion,
      kind,
      metadata: { name: `binding-${i}`, ...(kind === 'RoleBinding' ? { namespace: `ns-${i % 1000}` } : {}) },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `role-${i}` },
      subjects: [subject(i)],
    },
  ])
  return [...clusterRoles, ...clusterRoleBindings, ...roles, ...roleBindings, ...own.flat()]
}

function attributesOf(username: string, verb: string, name: string, namespace: string): Attributes {
  const user = { username, groups: ['dev', 'system:authenticated'] }
  const what = { isResource: true, group: '', version: 'v1', resource: 'configmaps', subresource: '', path: '' }
  return { user, verb, name, namespace, ...what }
}

/** Microseconds for an allowed decision with so many cluster bindings, each for another user. */
export function decisionCost(count: number): number {
  const objects = manyBindings('ClusterRoleBinding', (i) => ({ kind: 'User', name: `user-${i}` }), count)
  const authorizer = createRbacAuthorizer({ objects })
  const attributes = Array.from({ length: 100 }, (_, n) => {
    const i = (n * 7919) % count
    return attributesOf(`user-${i}`, 'get', `name-${i}`, 'ns-0')
  })
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5; round++) {
    const from = performance.now()
    for (let i = 0; i < 20_000; i++) authorizer.authorize(attributes[i % attributes.length] as Attributes)
    best = Math.min(best, ((performance.now() - from) / 20_000) * 1000)
  }
  return best
}

export function authorizationRows(): Row[] {
  const each = createRbacAuthorizer({ objects: manyBindings('ClusterRoleBinding', (i) => ({ kind: 'User', name: `user-${i}` })) })
  const local = createRbacAuthorizer({ objects: manyBindings('RoleBinding', (i) => ({ kind: 'User', name: `user-${i}` })) })
  const one = createRbacAuthorizer({ objects: manyBindings('ClusterRoleBinding', () => ({ kind: 'Group', name: 'dev' })) })
  const allowed = attributesOf('user-5000', 'get', 'name-5000', 'ns-0')
  const refused = attributesOf('user-5000', 'delete', 'name-5000', 'ns-0')
  const row = (name: string, authorizer: typeof each, attributes: Attributes, decision: string): Row => {
    if (authorizer.authorize(attributes).decision !== decision) throw new Error(`${name}: not ${decision}`)
    return [name, () => authorizer.authorize(attributes)]
  }
  return [
    row('RBAC, 10 000 cluster bindings: allowed', each, allowed, 'allow'),
    row('RBAC, 10 000 cluster bindings: refused', each, refused, 'noOpinion'),
    row('RBAC, 10 000 bindings in namespaces: allowed', local, allowed, 'allow'),
    row('RBAC, 10 000 bindings of one group: allowed', one, allowed, 'allow'),
    row('RBAC, 10 000 bindings of one group: refused', one, refused, 'noOpinion'),
  ]
}
