import { describe, expect, it } from 'vitest'
import { alwaysAllowAuthorizer, alwaysDenyAuthorizer, systemMasters } from './builtin-authorizers.ts'
import type { Attributes, Authorizer, Decision } from './interfaces.ts'
import { createUnionAuthorizer } from './union.ts'

const authenticated = ['system:authenticated']
const anonymous = ['system:unauthenticated']

function toResource(groups: readonly string[], verb: string, resource: string): Attributes {
  const user = { username: 'u', groups }
  const rest = { group: '', version: 'v1', subresource: '', namespace: 'ns', name: '', path: '' }
  return { user, verb, isResource: true, resource, ...rest }
}

function toPath(groups: readonly string[], verb: string, path: string): Attributes {
  return { ...toResource(groups, verb, ''), isResource: false, version: '', namespace: '', path }
}

const answering = (decision: Decision, consulted: string[] = [], name = ''): Authorizer => ({
  authorize: async () => {
    consulted.push(name)
    return decision
  },
})

describe('createUnionAuthorizer', () => {
  const anything = toResource(authenticated, 'get', 'pods')

  it('stops at the first decision', async () => {
    const consulted: string[] = []
    const union = createUnionAuthorizer([
      answering({ decision: 'noOpinion', reason: 'not mine' }, consulted, 'a'),
      answering({ decision: 'deny', reason: 'no' }, consulted, 'b'),
      answering({ decision: 'allow', reason: 'yes' }, consulted, 'c'),
    ])
    expect(await union.authorize(anything)).toEqual({ decision: 'deny', reason: 'no' })
    expect(consulted).toEqual(['a', 'b'])
  })

  it('joins all reasons when no authorizer decides', async () => {
    const silent = answering({ decision: 'noOpinion', reason: '' })
    const union = createUnionAuthorizer([answering({ decision: 'noOpinion', reason: 'one' }), silent, alwaysDenyAuthorizer])
    expect(await union.authorize(anything)).toEqual({ decision: 'noOpinion', reason: 'one\nEverything is forbidden.' })
    expect(await createUnionAuthorizer([]).authorize(anything)).toEqual({ decision: 'noOpinion', reason: '' })
  })

  it('is synchronous if the members are', () => {
    expect(createUnionAuthorizer([alwaysDenyAuthorizer, alwaysAllowAuthorizer]).authorize(anything)).toEqual({
      decision: 'allow',
      reason: '',
    })
  })

  it('joins errors when no authorizer decides', async () => {
    const failing: Authorizer = { authorize: () => ({ decision: 'noOpinion', reason: '', error: 'unreachable' }) }
    expect(await createUnionAuthorizer([failing, alwaysDenyAuthorizer]).authorize(anything)).toEqual({
      decision: 'noOpinion',
      reason: 'Everything is forbidden.',
      error: 'unreachable',
    })
    expect(await createUnionAuthorizer([failing, alwaysAllowAuthorizer]).authorize(anything)).toEqual({
      decision: 'allow',
      reason: '',
    })
  })

  it('lists the rules of all members', async () => {
    const rules = await createUnionAuthorizer([
      alwaysDenyAuthorizer,
      { authorize: () => ({ decision: 'deny', reason: '' }) },
      alwaysAllowAuthorizer,
    ]).rulesFor?.(anything.user, 'ns')
    expect(rules).toEqual({
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
      incomplete: false,
      errors: [],
    })
  })

  it('propagates exceptions of members', async () => {
    const broken: Authorizer = { authorize: () => Promise.reject(new Error('broken')) }
    await expect(createUnionAuthorizer([broken, alwaysAllowAuthorizer]).authorize(anything)).rejects.toThrow('broken')
  })
})

describe('systemMasters', () => {
  const decide = (attributes: Attributes) => (systemMasters.authorize(attributes) as Decision).decision

  it('allows everything to system:masters', () => {
    expect(decide(toResource(['system:masters'], 'deletecollection', 'secrets'))).toBe('allow')
    expect(decide(toPath(['system:masters'], 'post', '/anything'))).toBe('allow')
  })

  it.each(['selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'selfsubjectreviews'])(
    'allows only authenticated users to create %s',
    (resource) => {
      expect(decide(toResource(authenticated, 'create', resource))).toBe('allow')
      expect(decide(toResource(authenticated, 'get', resource))).toBe('noOpinion')
      expect(decide(toResource(anonymous, 'create', resource))).toBe('noOpinion')
    },
  )

  it.each(['get', 'list', 'create', 'delete'])('forbids %s on resources to other users [P251]', (verb) => {
    expect(decide(toResource(authenticated, verb, 'pods'))).toBe('noOpinion')
  })

  it.each(['/api', '/apis/apps/v1', '/openapi/v3', '/healthz/ping', '/version', '/.well-known/openid-configuration'])(
    'allows authenticated users to get %s',
    (path) => {
      expect(decide(toPath(authenticated, 'get', path))).toBe('allow')
      expect(decide(toPath(authenticated, 'post', path))).toBe('noOpinion')
    },
  )

  it.each(['/apis-of-others', '/metrics', '/logs', '/', '/healthzz'])('forbids %s, which is not part of discovery', (path) => {
    expect(decide(toPath(authenticated, 'get', path))).toBe('noOpinion')
  })

  it('allows anonymous users only health and version', () => {
    for (const path of ['/healthz', '/livez', '/readyz', '/version', '/version/'])
      expect(decide(toPath(anonymous, 'get', path))).toBe('allow')
    for (const path of ['/api', '/openapi/v2', '/healthz/ping']) expect(decide(toPath(anonymous, 'get', path))).toBe('noOpinion')
  })
})
