import { createRbacAuthorizer } from '@krmkit/authorization'
import { stockProfile, type UserInfo } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { contextOf, done } from '../testing/sample-server.ts'
import { impersonation } from './impersonation.ts'

type Headers = Readonly<Record<string, string | readonly string[]>>

const caller: UserInfo = { username: 'caller', groups: ['system:authenticated'] }
const anything = { authorize: () => ({ decision: 'allow', reason: '' }) as const }

/** The user of a request after the filter. */
async function actsAs(headers: Headers, authorizer: Parameters<typeof impersonation>[0] = anything) {
  const state = contextOf('/api', { user: caller, headers })
  await impersonation(authorizer, stockProfile)(state, async () => done)
  return state
}

const identityOf = async (headers: Headers) => (await actsAs(headers)).user

describe('impersonated users', () => {
  it('take the name from Impersonate-User, and belong to system:authenticated [P250]', async () => {
    const { user, impersonator } = await actsAs({ 'impersonate-user': 'carl' })
    expect(user).toEqual({ username: 'carl', groups: ['system:authenticated'] })
    expect(impersonator).toEqual(caller)
  })

  it('take groups from repeated Impersonate-Group, with either the authenticated or the unauthenticated group [P251]', async () => {
    const groups = async (...given: string[]) =>
      (await identityOf({ 'impersonate-user': 'carl', 'impersonate-group': given })).groups
    expect(await groups('a', 'b')).toEqual(['a', 'b', 'system:authenticated'])
    expect(await groups('system:authenticated', 'a')).toEqual(['system:authenticated', 'a'])
    expect(await groups('system:unauthenticated')).toEqual(['system:unauthenticated'])
  })

  it('take extra from Impersonate-Extra-, with lower-case, percent-decoded keys and separate values [P252]', async () => {
    const { extra } = await identityOf({
      'impersonate-user': 'carl',
      'impersonate-extra-scopes': ['view', 'edit'],
      'impersonate-extra-Dept': 'Sales',
      'impersonate-extra-example.com%2fproject': '',
      'impersonate-extra-a%zz': 'v',
    })
    expect(extra).toEqual({ scopes: ['view', 'edit'], dept: ['Sales'], 'example.com/project': [''], 'a%zz': ['v'] })
  })

  it('accept any extra key, __proto__ included [P252]', async () => {
    const headers = { 'impersonate-user': 'carl', ['impersonate-extra-__proto__']: 'x', 'impersonate-extra-constructor': 'y' }
    const { extra = {} } = await identityOf(headers)
    expect(Object.keys(extra)).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(extra)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  it('take the uid from Impersonate-Uid [P253]', async () => {
    expect(await identityOf({ 'impersonate-user': 'carl', 'impersonate-uid': 'some uid/1' })).toMatchObject({ uid: 'some uid/1' })
  })

  it.each<[string, Headers]>([
    ['groups', { 'impersonate-group': 'system:masters' }],
    ['uid', { 'impersonate-uid': '1' }],
    ['extra', { 'impersonate-extra-scopes': 'a' }],
    ['groups and an empty user', { 'impersonate-user': '', 'impersonate-group': 'g' }],
  ])('require a user for %s [P254]', async (_, headers) => {
    await expect(actsAs(headers)).rejects.toMatchObject({ code: 400, reason: 'BadRequest' })
  })

  it.each<[string, Headers]>([
    ['several users', { 'impersonate-user': ['', 'carl'] }],
    ['several uids', { 'impersonate-user': 'carl', 'impersonate-uid': ['1', '2'] }],
    ['a key that is not UTF-8', { 'impersonate-user': 'carl', 'impersonate-extra-a%ff': 'x' }],
  ])('reject %s', async (_, headers) => {
    await expect(actsAs(headers)).rejects.toMatchObject({ code: 400, reason: 'BadRequest' })
  })

  it('keep white space and special characters of names', async () => {
    const { username, groups } = await identityOf({ 'impersonate-user': ' carl ', 'impersonate-group': ['', 'a, b', ' '] })
    expect([username, groups]).toEqual([' carl ', ['', 'a, b', ' ', 'system:authenticated']])
  })

  it('do not result from an empty user, an empty uid or unknown headers', async () => {
    for (const headers of [{ 'impersonate-user': '' }, { 'impersonate-uid': '' }, { 'impersonate-nothing': 'x' }, {}]) {
      const { user, impersonator } = await actsAs(headers)
      expect([user, impersonator]).toEqual([caller, undefined])
    }
  })

  it('get the groups of service accounts, unless groups are given', async () => {
    const account = { 'impersonate-user': 'system:serviceaccount:shop:robot' }
    expect((await identityOf(account)).groups).toEqual([
      'system:serviceaccounts',
      'system:serviceaccounts:shop',
      'system:authenticated',
    ])
    expect((await identityOf({ ...account, 'impersonate-group': 'only' })).groups).toEqual(['only', 'system:authenticated'])
    expect((await identityOf({ 'impersonate-user': 'system:serviceaccount:shop' })).groups).toEqual(['system:authenticated'])
  })

  it('stay unauthenticated when anonymous', async () => {
    expect((await identityOf({ 'impersonate-user': 'system:anonymous' })).groups).toEqual(['system:unauthenticated'])
  })
})

const rbac = (rules: readonly object[], kind: 'ClusterRoleBinding' | 'RoleBinding' = 'ClusterRoleBinding') => {
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const metadata = kind === 'RoleBinding' ? { name: 'b', namespace: 'shop' } : { name: 'b' }
  return createRbacAuthorizer({
    objects: [
      { apiVersion, kind: 'ClusterRole', metadata: { name: 'r' }, rules },
      { apiVersion, kind, metadata, roleRef: { kind: 'ClusterRole', name: 'r' }, subjects: [{ kind: 'User', name: 'caller' }] },
    ],
  })
}
const right = (resource: string, ...resourceNames: string[]) => ({
  verbs: ['impersonate'],
  apiGroups: [/^(userextras|uids)/.test(resource) ? 'authentication.k8s.io' : ''],
  resources: [resource],
  ...(resourceNames.length === 0 ? {} : { resourceNames }),
})

describe('authorization of impersonation', () => {
  const full = {
    'impersonate-user': 'carl',
    'impersonate-group': ['team', 'ops'],
    'impersonate-uid': '7',
    'impersonate-extra-scopes': ['view', 'edit'],
  }
  const rights = [
    right('users', 'carl'),
    right('groups', 'team', 'ops'),
    right('uids', '7'),
    right('userextras/scopes', 'view', 'edit'),
  ]

  it('checks every attribute by name [P256, P257, P258]', async () => {
    expect((await actsAs(full, rbac(rights))).user.username).toBe('carl')
  })

  it.each([
    [
      0,
      'users',
      'users "carl" is forbidden: User "caller" cannot impersonate resource "users" in API group "" at the cluster scope',
    ],
    [1, 'groups', 'groups "team" is forbidden'],
    [2, 'uids', 'uids.authentication.k8s.io "7" is forbidden'],
    [3, 'userextras', 'cannot impersonate resource "userextras/scopes" in API group "authentication.k8s.io"'],
  ])('returns 403 without right number %i [P256, P257, P312]', async (missing, _, message) => {
    const authorizer = rbac(rights.filter((_, i) => i !== missing))
    await expect(actsAs(full, authorizer)).rejects.toMatchObject({ code: 403, message: expect.stringContaining(message) })
  })

  it.each<[string, Headers]>([
    ['another user', { ...full, 'impersonate-user': 'erik' }],
    ['a group that is not allowed', { ...full, 'impersonate-group': ['team', 'system:masters'] }],
    ['another uid', { ...full, 'impersonate-uid': '8' }],
    ['another value of extra', { ...full, 'impersonate-extra-scopes': ['view', 'all'] }],
    ['another key of extra', { ...full, 'impersonate-extra-dept': 'view' }],
  ])('honours resource names: %s [P258]', async (_, headers) => {
    await expect(actsAs(headers, rbac(rights))).rejects.toMatchObject({ code: 403 })
  })

  it('checks service accounts as a resource in their namespace [P256]', async () => {
    const headers = { 'impersonate-user': 'system:serviceaccount:shop:robot' }
    expect((await actsAs(headers, rbac([right('serviceaccounts', 'robot')]))).user.username).toContain('robot')
    expect((await actsAs(headers, rbac([right('serviceaccounts')], 'RoleBinding'))).user.username).toContain('robot')
    await expect(actsAs(headers, rbac([right('users')]))).rejects.toMatchObject({
      code: 403,
      message: expect.stringContaining('"serviceaccounts" in API group "" in the namespace "shop"'),
    })
    const elsewhere = { 'impersonate-user': 'system:serviceaccount:other:robot' }
    await expect(actsAs(elsewhere, rbac([right('serviceaccounts')], 'RoleBinding'))).rejects.toMatchObject({ code: 403 })
  })

  it('does not accept namespaced rights for users [P259]', async () => {
    await expect(actsAs({ 'impersonate-user': 'carl' }, rbac([right('users')], 'RoleBinding'))).rejects.toMatchObject({
      code: 403,
    })
  })

  it('requires the right to impersonate oneself', async () => {
    await expect(actsAs({ 'impersonate-user': 'caller' }, rbac([]))).rejects.toMatchObject({ code: 403 })
  })
})
