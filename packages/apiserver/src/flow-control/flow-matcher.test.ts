import { describe, expect, it } from 'vitest'
import { parseRequestInfo } from '../request/info.ts'
import { createFlowMatcher } from './flow-matcher.ts'

const all = ['*']
const schema = (name: string, matchingPrecedence: number, subjects: object[], rules: object = {}) => ({
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'FlowSchema',
  metadata: { name, uid: name },
  spec: { matchingPrecedence, priorityLevelConfiguration: { name: `of-${name}` }, rules: [{ subjects, ...rules }] },
})
const user = (name: string) => ({ kind: 'User', user: { name } })
const group = (name: string) => ({ kind: 'Group', group: { name } })
const account = (namespace: string, name: string) => ({ kind: 'ServiceAccount', serviceAccount: { namespace, name } })
const everything = {
  resourceRules: [{ verbs: all, apiGroups: all, resources: all, clusterScope: true, namespaces: all }],
  nonResourceRules: [{ verbs: all, nonResourceURLs: all }],
}
const request = (username: string, [method, path]: readonly [string, string], groups: string[] = []) => ({
  user: { username, groups },
  info: parseRequestInfo(method, path, false)!,
})
const read = ['GET', '/api/v1/namespaces/shop/pods/a'] as const

describe('flow schema matching', () => {
  it('selects the first matching schema, by precedence, then by name', () => {
    const classOf = createFlowMatcher([
      schema('late', 900, [user('*')], everything),
      schema('b', 10, [user('jane')], everything),
      schema('a', 10, [user('jane')], everything),
    ])
    expect(classOf(request('jane', read))).toMatchObject({ schema: { metadata: { name: 'a' } }, level: 'of-a' })
    expect(classOf(request('joe', read))?.schema.metadata.name).toBe('late')
    expect(createFlowMatcher([])(request('joe', read))).toBeUndefined()
  })

  it.each([
    [group('dev'), 'x', ['dev'], true],
    [group('dev'), 'dev', [], false],
    [group('*'), 'x', [], true],
    [account('shop', 'till'), 'system:serviceaccount:shop:till', [], true],
    [account('shop', 'other'), 'system:serviceaccount:shop:till', [], false],
    [account('shop', '*'), 'system:serviceaccount:shop:till', [], true],
    [account('sho', '*'), 'system:serviceaccount:shop:till', [], false],
    [account('shop', '*'), 'system:serviceaccount:shop:', [], false],
    [{ kind: 'Other' }, 'x', [], false],
  ] as const)('matches subject %j with user %s of %j: %s', (subject, username, groups, fits) => {
    const classOf = createFlowMatcher([schema('s', 1, [subject], everything)])
    expect(classOf(request(username, read, [...groups])) !== undefined).toBe(fits)
  })

  it.each([
    [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['shop'] }, read, true],
    [{ verbs: ['list'], apiGroups: [''], resources: ['pods'], namespaces: ['shop'] }, read, false],
    [{ verbs: all, apiGroups: ['apps'], resources: ['pods'], namespaces: all }, read, false],
    [{ verbs: all, apiGroups: all, resources: ['pods/status'], namespaces: all }, read, false],
    [{ verbs: all, apiGroups: all, resources: ['pods/log'], namespaces: all }, ['GET', `${read[1]}/log`], true],
    [{ verbs: all, apiGroups: all, resources: all, namespaces: ['other'] }, read, false],
    [{ verbs: all, apiGroups: all, resources: all, namespaces: all }, ['GET', '/api/v1/nodes/n'], false],
    [{ verbs: all, apiGroups: all, resources: all, clusterScope: true }, ['GET', '/api/v1/nodes/n'], true],
    [{ verbs: all, apiGroups: all, resources: all, clusterScope: true }, read, false],
    [{ verbs: all, apiGroups: all, resources: all, clusterScope: true, namespaces: null }, read, false],
    [{ verbs: null, apiGroups: all, resources: all, namespaces: all }, read, false],
    [{ verbs: all, apiGroups: null, resources: all, namespaces: all }, read, false],
    [{ verbs: all, apiGroups: all, resources: null, namespaces: all }, read, false],
  ] as const)('matches resource rule %j with %j: %s', (rule, requested, fits) => {
    const classOf = createFlowMatcher([schema('s', 1, [user('*')], { resourceRules: [rule] })])
    expect(classOf(request('x', requested)) !== undefined).toBe(fits)
  })

  it('finds nothing in the null that stands for an empty list in a stored object', () => {
    const paths = [
      { verbs: null, nonResourceURLs: all },
      { verbs: all, nonResourceURLs: null },
    ]
    for (const rule of paths) {
      const classOf = createFlowMatcher([schema('s', 1, [user('*')], { nonResourceRules: [rule] })])
      expect(classOf(request('x', ['GET', '/version']))).toBeUndefined()
    }
    const rules = [{ subjects: null, ...everything }]
    const unbound = { ...schema('s', 1, []), spec: { ...schema('s', 1, []).spec, rules } }
    expect(createFlowMatcher([unbound])(request('x', read))).toBeUndefined()
  })

  it.each([
    ['/healthz', '/healthz', true],
    ['/healthz', '/healthz/ping', false],
    ['/healthz/*', '/healthz/ping', true],
    ['*', '/version', true],
    ['/version', '/api/v1/pods', false],
  ])('matches non-resource rule %s with path %s: %s', (url, path, fits) => {
    const classOf = createFlowMatcher([
      schema('s', 1, [user('*')], { nonResourceRules: [{ verbs: ['get'], nonResourceURLs: [url] }] }),
    ])
    expect(classOf(request('x', ['GET', path])) !== undefined).toBe(fits)
    expect(classOf(request('x', ['POST', path]))).toBeUndefined()
  })
})
