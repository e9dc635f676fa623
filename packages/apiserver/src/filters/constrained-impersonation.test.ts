import type { Attributes, Authorizer } from '@krmkit/authorization'
import { createFeatures, stockProfile, type UserInfo } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { contextOf, done } from '../testing/sample-server.ts'
import { impersonation } from './impersonation.ts'

const features = createFeatures('1.36', { ConstrainedImpersonation: true })
const list = '/api/v1/namespaces/ns/secrets'
const alice: UserInfo = { username: 'alice', groups: ['dev'] }
const robot: UserInfo = {
  username: 'system:serviceaccount:ns:robot',
  groups: [],
  extra: { 'authentication.kubernetes.io/node-name': ['n1'], 'authentication.kubernetes.io/pod-name': ['p'] },
}

const shown = ({ verb, group, resource, subresource, name }: Attributes) =>
  `${verb} ${group === '' ? '' : `${group.split('.', 1)[0]}/`}${resource}${subresource === '' ? '' : `/${subresource}`} ${name}`.trim()

/** Impersonates with an authorizer that allows these verbs; returns the user, the checks, and the refusal. */
async function attempt(headers: Record<string, string | string[]>, allowed: readonly string[], user = alice, target = list) {
  const checks: string[] = []
  const authorizer: Authorizer = {
    authorize(attributes) {
      checks.push(shown(attributes))
      const isAllowed = allowed.some((each) => shown(attributes).startsWith(each))
      return { decision: isAllowed ? 'allow' : 'noOpinion', reason: '' }
    },
  }
  const context = contextOf(target, { user, headers })
  try {
    await impersonation(authorizer, stockProfile, features)(context, async () => done)
    return { user: context.user, checks }
  } catch (error) {
    return { checks, refusal: (error as Error).message }
  }
}

describe('constrained impersonation', () => {
  it('needs a permission for the user and one for the request', async () => {
    const { user, checks } = await attempt({ 'impersonate-user': 'bob' }, [
      'impersonate-on:user-info:list',
      'impersonate:user-info',
    ])
    expect(user).toEqual({ username: 'bob', groups: ['system:authenticated'] })
    expect(checks).toEqual(['impersonate-on:user-info:list secrets', 'impersonate:user-info authentication/users bob'])
  })

  it('falls back to the verb impersonate, and refuses with the first error', async () => {
    const { user } = await attempt({ 'impersonate-user': 'bob' }, ['impersonate users bob'])
    expect(user?.username).toBe('bob')
    const { refusal, checks } = await attempt({ 'impersonate-user': 'bob' }, [])
    expect(checks).toEqual(['impersonate-on:user-info:list secrets', 'impersonate users bob'])
    expect(refusal).toBe(
      'secrets is forbidden: User "alice" cannot impersonate-on:user-info:list resource "secrets" in API group "" in the namespace "ns"',
    )
    expect((await attempt({ 'impersonate-user': 'bob' }, [], alice, '/api')).refusal).toBe(
      'forbidden: User "alice" cannot impersonate-on:user-info:get path "/api"',
    )
  })

  it('tries the mode of the last success first, and refuses with its error', async () => {
    const allowed = new Set(['impersonate users bob'])
    const checks: string[] = []
    const authorizer: Authorizer = {
      authorize(attributes) {
        checks.push(shown(attributes))
        return { decision: allowed.has(shown(attributes)) ? 'allow' : 'noOpinion', reason: '' }
      },
    }
    const filter = impersonation(authorizer, stockProfile, features)
    const impersonate = async (name: string, user = alice) => {
      const context = contextOf(list, { user, headers: { 'impersonate-user': name } })
      await filter(context, async () => done)
      return context
    }
    expect((await impersonate('bob')).impersonationConstraint).toBeUndefined()
    await expect(impersonate('carl')).rejects.toThrow(
      'users "carl" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope',
    )
    expect(checks.slice(2)).toEqual(['impersonate users carl', 'impersonate-on:user-info:list secrets'])
    await expect(impersonate('carl', { username: 'dora', groups: [] })).rejects.toThrow('cannot impersonate-on:user-info:list')
    allowed.add('impersonate-on:user-info:list secrets').add('impersonate:user-info authentication/users carl')
    expect((await impersonate('carl')).impersonationConstraint).toBe('impersonate:user-info')
    checks.length = 0
    await impersonate('bob')
    expect(checks).toEqual([
      'impersonate-on:user-info:list secrets',
      'impersonate:user-info authentication/users bob',
      'impersonate users bob',
    ])
  })

  it('checks uid, groups and extra, many of them at once first', async () => {
    const headers = {
      'impersonate-user': 'bob',
      'impersonate-uid': 'u',
      'impersonate-group': ['a', 'b', 'c', 'd'],
      'impersonate-extra-example.com%2fkey': 'v',
    }
    const { user, checks } = await attempt(headers, ['impersonate'])
    expect(user?.groups).toEqual(['a', 'b', 'c', 'd', 'system:authenticated'])
    expect(checks.slice(2)).toEqual([
      'impersonate:user-info authentication/uids u',
      'impersonate:user-info authentication/groups *',
      'impersonate:user-info authentication/userextras/example.com/key v',
    ])
  })

  it.each([
    [{ 'impersonate-group': 'system:masters' }, 'impersonating the system:masters group is not allowed'],
    [{ 'impersonate-group': '' }, 'impersonating the empty string group is not allowed'],
    [
      { 'impersonate-extra-scopes': 'v' },
      'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "scopes": must be a domain-prefixed path',
    ],
    [{ 'impersonate-extra-example.com%2fkey': '' }, 'impersonating the empty string value in extra is not allowed'],
  ])('refuses %j', async (headers, problem) => {
    const allowed = ['impersonate-on', 'impersonate:']
    const { refusal } = await attempt({ 'impersonate-user': 'bob', ...(headers as Record<string, string>) }, allowed)
    expect(refusal).toContain(problem)
  })

  it('has modes for service accounts and nodes, which have fixed groups', async () => {
    const account = await attempt({ 'impersonate-user': 'system:serviceaccount:ns:other' }, ['impersonate-on', 'impersonate:'])
    expect(account.user?.groups).toEqual(['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'])
    expect(account.checks).toEqual([
      'impersonate-on:serviceaccount:list secrets',
      'impersonate:serviceaccount authentication/serviceaccounts other',
    ])
    const node = await attempt({ 'impersonate-user': 'system:node:n2' }, ['impersonate-on', 'impersonate:'], robot)
    expect(node.user).toEqual({ username: 'system:node:n2', groups: ['system:nodes', 'system:authenticated'] })
    expect(node.checks).toEqual([
      'impersonate-on:arbitrary-node:list secrets',
      'impersonate:arbitrary-node authentication/nodes n2',
    ])
    const grouped = await attempt({ 'impersonate-user': 'system:node:n2', 'impersonate-group': 'g' }, [], robot)
    expect(grouped.checks).toEqual(['impersonate users system:node:n2'])
  })

  it('lets a pod be its own node, whatever its name', async () => {
    const own = await attempt(
      { 'impersonate-user': 'system:node:n1' },
      ['impersonate-on:associated-node', 'impersonate:associated-node'],
      robot,
    )
    expect(own.checks).toEqual([
      'impersonate-on:associated-node:list secrets',
      'impersonate:associated-node authentication/nodes *',
    ])
    expect(own.user).toEqual({ username: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] })
  })

  it('refuses with the header that keeps browsers from guessing a type, from 1.35 on', async () => {
    const authorizer: Authorizer = { authorize: () => ({ decision: 'noOpinion', reason: '' }) }
    const refusal = async (release: string, headers: Record<string, string>) => {
      const context = contextOf(list, { user: alice, headers })
      // Refusals of malformed headers are thrown, others are rejections.
      const run = async () => impersonation(authorizer, stockProfile, createFeatures(release))(context, async () => done)
      const message = await run().catch((error: Error) => error.message)
      return [message, context.responseHeaders?.['x-content-type-options']]
    }
    expect((await refusal('1.37', { 'impersonate-user': 'bob' }))[1]).toBe('nosniff')
    const unnamed = { 'impersonate-uid': 'u', 'impersonate-group': 'g', 'impersonate-extra-b': '2', 'impersonate-extra-a': '1' }
    const extra = 'map[string][]string{"a":[]string{"1"}, "b":[]string{"2"}}'
    expect(await refusal('1.37', unnamed)).toEqual([
      `requested &user.DefaultInfo{Name:"", UID:"u", Groups:[]string{"g"}, Extra:${extra}} without impersonating a user name`,
      'nosniff',
    ])
    expect(await refusal('1.37', { 'impersonate-uid': 'u' })).toEqual([
      'requested &user.DefaultInfo{Name:"", UID:"u", Groups:[]string(nil), Extra:map[string][]string(nil)} without impersonating a user name',
      'nosniff',
    ])
    expect((await refusal('1.34', { 'impersonate-uid': 'u' }))[1]).toBeUndefined()
  })

  it('is off without its gate', async () => {
    const checks: string[] = []
    const authorizer: Authorizer = {
      authorize(attributes) {
        checks.push(shown(attributes))
        return { decision: 'allow', reason: '' }
      },
    }
    const context = contextOf(list, { user: alice, headers: { 'impersonate-user': 'bob' } })
    await impersonation(authorizer, stockProfile, createFeatures('1.35'))(context, async () => done)
    expect(checks).toEqual(['impersonate users bob'])
  })
})
