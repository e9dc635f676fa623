import { ApiError } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createPrivilegedGroupsAuthorizer } from '../builtin-authorizers.ts'
import type { PolicyRule, StoredObject } from '../interfaces.ts'
import { account, binding, clusterBinding, clusterRole, group, role, rule, user } from '../testing/samples.fixture.ts'
import { createUnionAuthorizer } from '../union.ts'
import { createEscalationGuard, type RoleWrite } from './escalation.ts'
import { createRbacAuthorizer } from './rbac-authorizer.ts'

const rbacGroup = 'rbac.authorization.k8s.io'
const jane = { username: 'jane', groups: ['dev', 'system:authenticated'] }
const secrets = rule('get', 'core', 'secrets')
const reading = clusterRole('reading', [secrets])

/** Returns the result of a write in namespace `shop` by jane, who may read secrets and has `rights`. */
async function outcome(
  write: Partial<RoleWrite> & Pick<RoleWrite, 'resource' | 'object'>,
  rights: readonly PolicyRule[] = [],
  more: StoredObject[] = [],
) {
  const objects = [
    reading,
    role('shop', 'rights', rights),
    binding('shop', 'reading', ['ClusterRole', 'reading'], user('jane')),
    binding('shop', 'rights', ['Role', 'rights'], user('jane')),
    ...more,
  ]
  const rbac = createRbacAuthorizer({ objects })
  const guard = createEscalationGuard({
    authorizer: createUnionAuthorizer([createPrivilegedGroupsAuthorizer(), rbac]),
    rbac: () => rbac,
  })
  try {
    await guard({ user: jane, namespace: 'shop', name: '', ...write })
    return 'allowed'
  } catch (error) {
    if (!ApiError.is(error)) throw error
    return `${error.code} ${error.message}`
  }
}

const refused = (what: string, name: string, rights: string) =>
  `403 ${what}.${rbacGroup} "${name}" is forbidden: user "jane" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n${rights}`

describe('roles', () => {
  it('allows granting held permissions', async () => {
    expect(await outcome({ resource: 'roles', object: role('shop', 'r', [secrets]) })).toBe('allowed')
  })

  it('forbids granting other permissions', async () => {
    const object = role('shop', 'r', [secrets, rule('get list', 'core', 'pods')])
    expect(await outcome({ resource: 'roles', object })).toBe(
      refused('roles', 'r', '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}'),
    )
  })

  it('names the resource of the request in errors about missing roles', async () => {
    const missing = (name: string) => binding('shop', `to-${name}`, ['ClusterRole', name], user('jane'))
    const write = { resource: 'roles', object: role('shop', 'r', [rule('get', 'core', 'pods')]) }
    const message = refused('roles', 'r', '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}')
    const [a, b] = [`roles.${rbacGroup} "a" not found`, `roles.${rbacGroup} "b" not found`]
    expect(await outcome(write, [], [missing('a')])).toBe(`${message}; resolution errors: [${a}]`)
    expect(await outcome(write, [], [missing('a'), missing('b')])).toBe(`${message}; resolution errors: [[${a}, ${b}]]`)
    const bound = { resource: 'rolebindings', object: binding('shop', 'x', ['ClusterRole', 'pods'], user('joe')) }
    const more = [clusterRole('pods', [rule('get', 'core', 'pods')]), missing('a')]
    expect(await outcome(bound, [], more)).toContain(`; resolution errors: [rolebindings.${rbacGroup} "a" not found]`)
  })

  it('forbids granting permissions of one namespace elsewhere', async () => {
    expect(await outcome({ resource: 'roles', namespace: 'other', object: role('other', 'r', [secrets]) })).toMatch(/^403/)
    expect(await outcome({ resource: 'clusterroles', namespace: '', object: clusterRole('r', [secrets]) })).toMatch(/^403/)
  })

  it('allows granting anything with escalate', async () => {
    const object = role('shop', 'r', [rule('*', '*', '*')])
    expect(await outcome({ resource: 'roles', object }, [rule('escalate', rbacGroup, 'roles')])).toBe('allowed')
    expect(await outcome({ resource: 'roles', object }, [rule('escalate', rbacGroup, 'clusterroles')])).toMatch(/^403/)
    expect(await outcome({ resource: 'roles', namespace: 'other', object }, [rule('escalate', rbacGroup, 'roles')])).toMatch(
      /^403/,
    )
  })

  it('applies escalate on one role only if the path has its name [P258]', async () => {
    const object = role('shop', 'r', [rule('*', '*', '*')])
    const right = [rule('escalate', rbacGroup, 'roles', 'r')]
    expect(await outcome({ resource: 'roles', object, name: 'r' }, right)).toBe('allowed')
    expect(await outcome({ resource: 'roles', object, name: '' }, right)).toMatch(/^403/)
    expect(await outcome({ resource: 'roles', object, name: 's' }, right)).toMatch(/^403/)
  })

  it('allows everything to system:masters', async () => {
    const object = clusterRole('r', [rule('*', '*', '*')])
    const root = { username: 'root', groups: ['system:masters'] }
    expect(await outcome({ resource: 'clusterroles', namespace: '', user: root, object })).toBe('allowed')
  })

  it('forbids updates of a role with more permissions, except of garbage collection fields', async () => {
    const oldObject = role('shop', 'big', [rule('*', '*', '*')])
    const labelled = { ...oldObject, metadata: { ...oldObject.metadata, labels: { a: 'b' } } }
    expect(await outcome({ resource: 'roles', name: 'big', object: labelled, oldObject })).toMatch(/^403/)
    const collected = {
      ...oldObject,
      metadata: { ...oldObject.metadata, finalizers: [], ownerReferences: [], managedFields: [] },
    }
    expect(await outcome({ resource: 'roles', name: 'big', object: collected, oldObject })).toBe('allowed')
    expect(await outcome({ resource: 'roles', name: 'big', object: role('shop', 'big', [secrets]), oldObject })).toBe('allowed')
  })

  it('requires all permissions to set or remove an aggregation rule', async () => {
    const gathering = { ...clusterRole('r', []), aggregationRule: { clusterRoleSelectors: [{}] } }
    const write = { resource: 'clusterroles', namespace: '', name: 'r' }
    const message = `403 clusterroles.${rbacGroup} "r" is forbidden: must have cluster-admin privileges to use the aggregationRule`
    expect(await outcome({ ...write, object: gathering })).toBe(message)
    expect(await outcome({ ...write, object: clusterRole('r', []), oldObject: gathering })).toBe(message)
    const all = [clusterRole('all', [rule('*', '*', '*'), { verbs: ['*'], nonResourceURLs: ['*'] }])]
    expect(await outcome({ ...write, object: gathering }, [], [...all, clusterBinding('all', 'all', group('dev'))])).toBe(
      'allowed',
    )
  })

  it('forbids rules with too many combinations', async () => {
    const many = Array.from({ length: 2000 }, (_, i) => `x${i}`)
    const object = role('shop', 'r', [{ verbs: many, apiGroups: many, resources: many }])
    expect(await outcome({ resource: 'roles', object })).toContain('more RBAC permissions than can be checked')
  })
})

describe('bindings', () => {
  const big = clusterRole('big', [rule('*', '*', '*')])
  const write = { resource: 'rolebindings' }

  it('allows binding a role with held permissions', async () => {
    expect(await outcome({ ...write, object: binding('shop', 'b', ['ClusterRole', 'reading'], account('x')) })).toBe('allowed')
  })

  it('forbids binding another role', async () => {
    const object = binding('shop', 'b', ['ClusterRole', 'big'], user('jane'))
    expect(await outcome({ ...write, object }, [], [big])).toBe(
      refused('rolebindings', 'b', '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}'),
    )
  })

  it('allows binding a role with bind, in the namespace of that permission [P258]', async () => {
    const right = [rule('bind', rbacGroup, 'clusterroles', 'big')]
    const object = binding('shop', 'b', ['ClusterRole', 'big'], user('jane'))
    expect(await outcome({ ...write, object }, right, [big])).toBe('allowed')
    expect(await outcome({ ...write, object }, [rule('bind', rbacGroup, 'roles', 'big')], [big])).toMatch(/^403/)
    expect(await outcome({ ...write, object }, [rule('bind', rbacGroup, 'clusterroles', 'other')], [big])).toMatch(/^403/)
    const cluster = { resource: 'clusterrolebindings', namespace: '', object: clusterBinding('b', 'big', user('jane')) }
    expect(await outcome(cluster, right, [big])).toMatch(/^403/)
  })

  it('does not allow binding with escalate', async () => {
    const object = binding('shop', 'b', ['ClusterRole', 'big'], user('jane'))
    expect(await outcome({ ...write, object }, [rule('escalate', rbacGroup, 'roles clusterroles')], [big])).toMatch(/^403/)
  })

  it('allows binding a missing role only with bind', async () => {
    const object = binding('shop', 'b', ['Role', 'later'], user('jane'))
    expect(await outcome({ ...write, object })).toBe(`404 rolebindings.${rbacGroup} "later" not found`)
    expect(await outcome({ ...write, object }, [rule('bind', rbacGroup, 'roles', 'later')])).toBe('allowed')
  })

  it('checks updates of subjects', async () => {
    const oldObject = binding('shop', 'b', ['ClusterRole', 'big'], user('root'))
    const object = binding('shop', 'b', ['ClusterRole', 'big'], user('root'), user('jane'))
    expect(await outcome({ ...write, name: 'b', object, oldObject }, [], [big])).toMatch(/^403/)
  })

  it('leaves unknown role kinds to validation', async () => {
    const object = { ...binding('shop', 'b', ['Deployment', 'x'], user('jane')) }
    expect(await outcome({ ...write, object })).toBe('allowed')
  })
})
