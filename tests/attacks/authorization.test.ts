import { createPrivilegedGroupsAuthorizer, createUnionAuthorizer } from '@krmkit/authorization'
import { createInProcessClient } from '@krmkit/client'
import { runControllers } from '@krmkit/controllers'
import type { UserInfo } from '@krmkit/meta'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, administrator, startApi, type TestApi } from '../protocol/server.ts'

/** Privilege escalation. Mallory manages roles and bindings of a namespace and reads its ConfigMaps, nothing more. */

const group = 'rbac.authorization.k8s.io'
const apiVersion = `${group}/v1`
const home = '/api/v1/namespaces/den'
const roles = `/apis/${apiVersion}/namespaces/den/roles`
const bindings = `/apis/${apiVersion}/namespaces/den/rolebindings`
const clusterRoles = `/apis/${apiVersion}/clusterroles`
const clusterBindings = `/apis/${apiVersion}/clusterrolebindings`

const mallory: UserInfo = { username: 'mallory', groups: ['system:authenticated'] }
const subject = { apiGroup: group, kind: 'User', name: 'mallory' }
const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }
const allPaths = { nonResourceURLs: ['*'], verbs: ['*'] }
const own = { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }
const manage = (resources: string[], ...more: string[]) => ({
  apiGroups: [group],
  resources,
  verbs: ['create', 'update', 'patch', 'get', 'list', 'delete', 'deletecollection', ...more],
})

const role = (name: string, ...rules: object[]) => ({ apiVersion, kind: 'Role', metadata: { name }, rules })
const clusterRole = (name: string, ...rules: object[]) => ({ apiVersion, kind: 'ClusterRole', metadata: { name }, rules })
const binding = (name: string, kind: string, roleName: string, ...subjects: object[]) => ({
  apiVersion,
  kind: 'RoleBinding',
  metadata: { name },
  roleRef: { apiGroup: group, kind, name: roleName },
  subjects: subjects.length === 0 ? [subject] : subjects,
})
const clusterBinding = (name: string, roleName: string) => ({
  ...binding(name, 'ClusterRole', roleName),
  kind: 'ClusterRoleBinding',
})

const merge = { 'content-type': 'application/merge-patch+json' }
const json = { 'content-type': 'application/json-patch+json' }
const strategic = { 'content-type': 'application/strategic-merge-patch+json' }
const apply = { 'content-type': 'application/apply-patch+yaml' }

let api: TestApi
let controllers: ReturnType<typeof runControllers>
beforeAll(async () => {
  api = await startApi({
    authorizer: async ({ rbac, nodes }) =>
      createUnionAuthorizer([createPrivilegedGroupsAuthorizer(), await nodes(), await rbac()]),
    bootstrapRoles: true,
  })
  controllers = runControllers({
    client: createInProcessClient(api.server, { user: administrator, clock: api.clock }),
    clock: api.clock,
    controllers: ['clusterrole-aggregation-controller'],
  })
  const make = async (path: string, body: object) => {
    const { status, text } = await api.post(path, body)
    if (status !== 201) throw new Error(text)
  }
  await make('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'den' } })
  await make(roles, role('own', own))
  await make(roles, role('big', everything))
  await make(roles, role('manager', own, manage(['roles', 'rolebindings'])))
  await make(clusterRoles, clusterRole('cluster-manager', manage(['clusterroles', 'clusterrolebindings'])))
  await make(bindings, binding('manager', 'Role', 'manager'))
  await make(bindings, binding('of-others', 'ClusterRole', 'cluster-admin', { apiGroup: group, kind: 'User', name: 'root' }))
  await make(clusterBindings, clusterBinding('cluster-manager', 'cluster-manager'))
  await controllers.settled()
})
afterAll(async () => {
  await controllers.close()
  await api.close()
})

const attack = (method: string, path: string, body?: object, headers?: Record<string, string>, query?: string): Promise<Answer> =>
  api.send(method, path, {
    user: mallory,
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers }),
    ...(query === undefined ? {} : { query }),
  })

/** What no attack may achieve. */
async function hasNothing(): Promise<void> {
  await controllers.settled()
  expect((await attack('GET', `${home}/secrets`)).status).toBe(403)
  expect((await attack('GET', '/api/v1/secrets')).status).toBe(403)
  expect((await attack('GET', '/metrics')).status).toBe(403)
  expect(
    (await attack('POST', `${home}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } })).status,
  ).toBe(403)
}

async function refused(
  answer: Promise<Answer>,
  why: RegExp = /attempting to grant RBAC permissions not currently held/,
): Promise<void> {
  const { status, json: body } = await answer
  expect([status, body.message]).toEqual([403, expect.stringMatching(why)])
  await hasNothing()
}

it('the attacker has its own permissions', async () => {
  expect((await attack('POST', roles, role('fine', own))).status).toBe(201)
  expect(
    (await attack('POST', bindings, binding('fine', 'Role', 'fine', { kind: 'ServiceAccount', name: 'friend' }))).status,
  ).toBe(201)
  expect((await attack('DELETE', `${bindings}/fine`)).status).toBe(200)
  await hasNothing()
})

describe('escalation through roles', () => {
  it('a new Role with everything', () => refused(attack('POST', roles, role('r', everything))))
  it('a new Role in a dry run', () => refused(attack('POST', roles, role('r', everything), undefined, 'dryRun=All')))
  it('a new Role with one more subresource', () =>
    refused(attack('POST', roles, role('r', { ...own, resources: ['configmaps/x'] }))))
  it('a new Role by PUT', () => refused(attack('PUT', `${roles}/new`, role('new', everything))))
  it('a new Role by apply', () => refused(attack('PATCH', `${roles}/new`, role('new', everything), apply, 'fieldManager=m')))
  it('a new Role with a generated name', () =>
    refused(attack('POST', roles, { ...role(''), metadata: { generateName: 'r-' }, rules: [everything] })))
  it('an update of the role it has', () => refused(attack('PUT', `${roles}/manager`, role('manager', everything))))
  it('a merge patch of the role it has', () => refused(attack('PATCH', `${roles}/manager`, { rules: [everything] }, merge)))
  it('a strategic merge patch', () => refused(attack('PATCH', `${roles}/own`, { rules: [everything] }, strategic)))
  it('a JSON patch that adds a rule', () =>
    refused(attack('PATCH', `${roles}/manager`, [{ op: 'add', path: '/rules/-', value: everything }], json)))
  it('a JSON patch that widens one verb', () =>
    refused(attack('PATCH', `${roles}/manager`, [{ op: 'replace', path: '/rules/0/verbs', value: ['*'] }], json)))
  it('an apply with force', () =>
    refused(attack('PATCH', `${roles}/manager`, role('manager', everything), apply, 'fieldManager=m&force=true')))
  it('a change of a label on a role that holds more', () =>
    refused(attack('PATCH', `${roles}/big`, { metadata: { labels: { a: 'b' } } }, merge)))
  it('verbs that grant permissions: escalate, bind, impersonate', async () => {
    for (const [resource, verb] of [
      ['roles', 'escalate'],
      ['clusterroles', 'bind'],
      ['users', 'impersonate'],
    ] as const) {
      const apiGroups = resource === 'users' ? [''] : [group]
      await refused(attack('POST', roles, role('r', { apiGroups, resources: [resource], verbs: [verb] })))
    }
  })
  it('namespace permissions in a ClusterRole', () => refused(attack('POST', clusterRoles, clusterRole('c', own))))
  it('paths in a ClusterRole', () => refused(attack('POST', clusterRoles, clusterRole('c', allPaths))))
  it('an update of the ClusterRole it has', () =>
    refused(attack('PUT', `${clusterRoles}/cluster-manager`, clusterRole('cluster-manager', everything))))
  it('a default role', () => refused(attack('PATCH', `${clusterRoles}/system:basic-user`, { rules: [everything] }, merge)))
  it('more combinations than can be checked', () => {
    const many = Array.from({ length: 3000 }, (_, i) => `x${i}`)
    return refused(
      attack('POST', roles, role('r', { apiGroups: many, resources: many, verbs: many })),
      /more RBAC permissions than can be checked/,
    )
  })
})

describe('escalation through aggregated roles', () => {
  const gathering = (name: string) => ({
    ...clusterRole(name),
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' } }] },
  })
  const why = /must have cluster-admin privileges to use the aggregationRule/
  it('a role that aggregates others', () => refused(attack('POST', clusterRoles, gathering('c')), why))
  it('an aggregation rule on the role it has', () =>
    refused(attack('PATCH', `${clusterRoles}/cluster-manager`, { aggregationRule: gathering('x').aggregationRule }, merge), why))
  it('an aggregation rule by apply', () =>
    refused(attack('PATCH', `${clusterRoles}/c`, gathering('c'), apply, 'fieldManager=m'), why))
  it('an aggregated role with additional permissions', () =>
    refused(
      attack('POST', clusterRoles, {
        ...clusterRole('c', everything),
        metadata: { name: 'c', labels: { [`${group}/aggregate-to-view`]: 'true' } },
      }),
    ))
  it('a label that aggregates a larger role', () =>
    refused(
      attack(
        'PATCH',
        `${clusterRoles}/cluster-admin`,
        { metadata: { labels: { [`${group}/aggregate-to-view`]: 'true' } } },
        merge,
      ),
    ))
  it('rules in an aggregating role', () => refused(attack('PATCH', `${clusterRoles}/view`, { rules: [everything] }, merge)))
  it('removal of the aggregation rule', () =>
    refused(attack('PATCH', `${clusterRoles}/view`, { aggregationRule: null, rules: [] }, merge), why))
})

describe('escalation through bindings', () => {
  it('a binding to a larger Role', () => refused(attack('POST', bindings, binding('b', 'Role', 'big'))))
  it('a binding to cluster-admin', () => refused(attack('POST', bindings, binding('b', 'ClusterRole', 'cluster-admin'))))
  it('a binding by PUT', () => refused(attack('PUT', `${bindings}/b`, binding('b', 'ClusterRole', 'admin'))))
  it('a binding by apply', () =>
    refused(attack('PATCH', `${bindings}/b`, binding('b', 'ClusterRole', 'edit'), apply, 'fieldManager=m')))
  it('a binding for a controlled service account', () =>
    refused(attack('POST', bindings, binding('b', 'Role', 'big', { kind: 'ServiceAccount', name: 'friend' }))))
  it('a binding for all users', () =>
    refused(
      attack('POST', bindings, binding('b', 'Role', 'big', { apiGroup: group, kind: 'Group', name: 'system:authenticated' })),
    ))
  it('its own name in the binding of another user', () =>
    refused(attack('PATCH', `${bindings}/of-others`, { subjects: [subject] }, merge)))
  it('its own name added by a JSON patch', () =>
    refused(attack('PATCH', `${bindings}/of-others`, [{ op: 'add', path: '/subjects/-', value: subject }], json)))
  it('its own name added by apply', () =>
    refused(
      attack(
        'PATCH',
        `${bindings}/of-others`,
        binding('of-others', 'ClusterRole', 'cluster-admin'),
        apply,
        'fieldManager=m&force=true',
      ),
    ))
  it('another role in a binding that it has', async () => {
    const answer = await attack(
      'PATCH',
      `${bindings}/manager`,
      { roleRef: { apiGroup: group, kind: 'Role', name: 'big' } },
      merge,
    )
    expect([403, 422]).toContain(answer.status)
    await hasNothing()
  })
  it('a ClusterRoleBinding to cluster-admin', () =>
    refused(attack('POST', clusterBindings, clusterBinding('b', 'cluster-admin'))))
  it('its own name in the binding of the administrators', () =>
    refused(attack('PATCH', `${clusterBindings}/cluster-admin`, { subjects: [subject] }, merge)))
  it('a binding to a role that is created later', async () => {
    expect((await attack('POST', bindings, binding('b', 'Role', 'later'))).status).toBe(404)
    await hasNothing()
  })
  it('a role name in another case or with a slash', async () => {
    const statusFor = async (name: string) => (await attack('POST', bindings, binding('b', 'ClusterRole', name))).status
    expect(await statusFor('Cluster-Admin')).toBe(404)
    // No role can have these names.
    for (const name of ['../cluster-admin', 'cluster-admin/']) expect(await statusFor(name)).toBe(400)
    await hasNothing()
  })
  it('a binding to a role of unknown kind', async () => {
    expect((await attack('POST', bindings, binding('b', 'clusterrole', 'cluster-admin'))).status).toBe(422)
    await hasNothing()
  })
  it('a binding with another namespace than the path', async () => {
    const elsewhere = { ...binding('b', 'Role', 'fine'), metadata: { name: 'b', namespace: 'kube-system' } }
    expect((await attack('POST', bindings, elsewhere)).status).toBe(400)
    await hasNothing()
  })
  it('re-creation of a binding with more subjects', async () => {
    expect((await attack('POST', bindings, binding('mine', 'Role', 'fine'))).status).toBe(201)
    expect((await attack('DELETE', `${bindings}/mine`)).status).toBe(200)
    await refused(attack('POST', bindings, binding('mine', 'Role', 'big')))
  })
  it('a race: the role grows while it is bound', async () => {
    const [bound, grown] = await Promise.all([
      attack('POST', bindings, binding('race', 'Role', 'fine')),
      attack('PATCH', `${roles}/fine`, { rules: [everything] }, merge),
    ])
    expect([bound.status, grown.status]).toEqual([201, 403])
    await hasNothing()
    await attack('DELETE', `${bindings}/race`)
  })
})

describe('escalation through impersonation', () => {
  const as = (headers: Record<string, string | readonly string[]>) =>
    attack('GET', `${home}/secrets`, undefined, headers as Record<string, string>)
  it.each<[string, Record<string, string | readonly string[]>]>([
    ['the administrator', { 'impersonate-user': 'admin' }],
    ['itself with another group', { 'impersonate-user': 'mallory', 'impersonate-group': 'system:masters' }],
    ['an account of the system', { 'impersonate-user': 'system:serviceaccount:kube-system:clusterrole-aggregation-controller' }],
    ['the server', { 'impersonate-user': 'system:apiserver' }],
    ['a node', { 'impersonate-user': 'system:node:n1', 'impersonate-group': 'system:nodes' }],
    ['anonymous with groups', { 'impersonate-user': 'system:anonymous', 'impersonate-group': 'system:masters' }],
  ])('as %s', (_, headers) => refused(as(headers), /cannot impersonate resource/))

  it('two users at once', async () => {
    const answer = await as({ 'impersonate-user': ['mallory', 'admin'] })
    expect([answer.status, answer.json.message]).toEqual([400, 'header impersonate-user is repeated'])
    await hasNothing()
  })

  it('groups without a user', async () => {
    expect((await as({ 'impersonate-group': 'system:masters' })).status).toBe(400)
    await hasNothing()
  })

  it('an allowed user with a forbidden group', async () => {
    const impersonate = (resources: string[], resourceNames: string[]) => ({
      apiGroups: [''],
      resources,
      resourceNames,
      verbs: ['impersonate'],
    })
    await api.post(clusterRoles, clusterRole('acting', impersonate(['users'], ['carl']), impersonate(['groups'], ['team'])))
    await api.post(clusterBindings, clusterBinding('acting', 'acting'))
    const allowed = { 'impersonate-user': 'carl', 'impersonate-group': 'team' }
    expect((await as(allowed)).json.message).toContain('User "carl" cannot list')
    for (const more of [
      { 'impersonate-group': ['team', 'system:masters'] },
      { 'impersonate-user': 'system:serviceaccount:kube-system:carl' },
      { 'impersonate-uid': '1' },
      { 'impersonate-extra-scopes': 'all' },
    ]) {
      await refused(as({ ...allowed, ...more }), /cannot impersonate resource/)
    }
  })

  it('impersonation does not chain', async () => {
    const headers = { 'impersonate-user': 'carl', 'impersonate-group': 'team' }
    await refused(
      attack('POST', bindings, binding('b', 'Role', 'big'), headers),
      /User "carl" cannot create resource "rolebindings"/,
    )
  })
})

describe('revocation', () => {
  it('permissions end with the binding', async () => {
    await api.post(clusterBindings, clusterBinding('short', 'cluster-admin'))
    expect((await attack('GET', '/api/v1/secrets')).status).toBe(200)
    await api.delete(`${clusterBindings}/short`)
    await hasNothing()
  })

  it('permissions end with the role', async () => {
    await api.post(clusterRoles, clusterRole('short', everything))
    await api.post(clusterBindings, clusterBinding('short', 'short'))
    expect((await attack('GET', '/api/v1/secrets')).status).toBe(200)
    await api.delete(`${clusterRoles}/short`)
    await hasNothing()
    await api.delete(`${clusterBindings}/short`)
  })

  it('permissions end with an aggregating role', async () => {
    const labels = { into: 'sum' }
    await api.post(clusterRoles, { ...clusterRole('part', everything), metadata: { name: 'part', labels } })
    await api.post(clusterRoles, { ...clusterRole('sum'), aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] } })
    await api.post(clusterBindings, clusterBinding('sum', 'sum'))
    await controllers.settled()
    expect((await attack('GET', '/api/v1/secrets')).status).toBe(200)
    await api.delete(`${clusterRoles}/part`)
    await hasNothing()
    await api.delete(`${clusterBindings}/sum`)
  })

  it('permissions end with the namespace', async () => {
    await api.delete(`${bindings}/manager`)
    expect((await attack('GET', `${home}/configmaps/x`)).status).toBe(403)
    await hasNothing()
  })
})
