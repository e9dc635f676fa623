import { describe, expect, it } from 'vitest'
import type { AuditAttributes } from './interfaces.ts'
import { auditPolicy } from './policy.ts'
import { type AuditRule, ruleMatches } from './policy-rule.ts'

const attributes: AuditAttributes = {
  user: { username: 'jane', groups: ['dev', 'system:authenticated'] },
  verb: 'update',
  isResource: true,
  group: '',
  resource: 'pods',
  subresource: 'status',
  namespace: 'shop',
  name: 'a',
  path: '/api/v1/namespaces/shop/pods/a/status',
}
const health: AuditAttributes = { ...attributes, isResource: false, resource: '', subresource: '', path: '/healthz/ping' }
const matches = (rule: Omit<AuditRule, 'level'>, about = attributes) => ruleMatches({ level: 'Metadata', ...rule }, about)
const ofPods = (...resources: string[]) => ({ resources: [{ group: '', resources }] })

describe('rules of an audit policy', () => {
  it.each<[string, Omit<AuditRule, 'level'>, boolean]>([
    ['no field', {}, true],
    ['its user', { users: ['jane'] }, true],
    ['another user', { users: ['carl'] }, false],
    ['one of its groups', { userGroups: ['ops', 'dev'] }, true],
    ['other groups', { userGroups: ['ops'] }, false],
    ['its verb', { verbs: ['update'] }, true],
    ['another verb', { verbs: ['get'] }, false],
    ['its namespace', { namespaces: ['shop'] }, true],
    ['cluster-scoped objects', { namespaces: [''] }, false],
    ['its group', { resources: [{ group: '' }] }, true],
    ['another group', { resources: [{ group: 'apps' }] }, false],
    ['the object alone', ofPods('pods'), false],
    ['its subresource', ofPods('pods/status'), true],
    ['all of its subresources', ofPods('pods/*'), true],
    ['that subresource of all resources', ofPods('*/status'), true],
    ['another subresource of all resources', ofPods('*/log'), false],
    ['all resources', ofPods('*'), true],
    ['its name', { resources: [{ group: '', resources: ['*'], resourceNames: ['a'] }] }, true],
    ['another name', { resources: [{ group: '', resources: ['*'], resourceNames: ['b'] }] }, false],
    ['other URLs', { nonResourceURLs: ['*'] }, false],
  ])('match by %s', (_, rule, expected) => expect(matches(rule)).toBe(expected))

  it.each([
    ['*', true],
    ['/healthz/ping', true],
    ['/healthz*', true],
    ['/healthz', false],
    ['/livez*', false],
  ])('match the URL %s', (url, expected) => expect(matches({ nonResourceURLs: [url] }, health)).toBe(expected))

  it('do not match by user when authentication failed', () => {
    const nobody = { ...attributes, user: undefined }
    expect([matches({ users: ['jane'] }, nobody), matches({ userGroups: ['dev'] }, nobody), matches({}, nobody)]).toEqual([
      false,
      false,
      true,
    ])
  })
})

const policy = (rules: unknown, rest: object = {}) =>
  auditPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules, ...rest })

describe('audit policies', () => {
  it('apply the first matching rule, and audit nothing without one', () => {
    const two = policy([
      { level: 'None', users: ['jane'] },
      { level: 'Request', resources: [{ group: '' }] },
    ])
    expect(two.decide(attributes).level).toBe('None')
    expect(two.decide({ ...attributes, user: { username: 'carl', groups: [] } }).level).toBe('Request')
    expect(two.decide({ ...health, user: undefined }).level).toBe('None')
  })

  it('omit the stages of the policy and of the rule', () => {
    const decision = policy([{ level: 'Metadata', omitStages: ['Panic'] }], { omitStages: ['RequestReceived'] }).decide(
      attributes,
    )
    expect([...decision.omitStages]).toEqual(['RequestReceived', 'Panic'])
  })

  it('omit managed fields by the rule, or by the policy', () => {
    const omits = (rule: object, rest: object) =>
      policy([{ level: 'Request', ...rule }], rest).decide(attributes).omitManagedFields
    expect([
      omits({}, {}),
      omits({}, { omitManagedFields: true }),
      omits({ omitManagedFields: false }, { omitManagedFields: true }),
    ]).toEqual([false, true, false])
  })

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['another kind', { apiVersion: 'audit.k8s.io/v1', kind: 'Event', rules: [{ level: 'None' }] }],
    ['an older version', { apiVersion: 'audit.k8s.io/v1beta1', kind: 'Policy', rules: [{ level: 'None' }] }],
    ['no rules', { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [] }],
  ])('reject %s as a policy', (_, value) => {
    expect(() => auditPolicy(value)).toThrow(expect.objectContaining({ code: 'InvalidPolicy' }))
  })

  it.each<[string, object, string]>([
    ['an unknown level', { level: 'All' }, 'rules.0.level'],
    ['no level', {}, 'rules.0.level'],
    ['an unknown stage', { level: 'None', omitStages: ['Later'] }, 'rules.0.omitStages.0'],
    ['an unknown member', { level: 'None', userss: [] }, 'rules.0'],
    ['resources and URLs', { level: 'None', nonResourceURLs: ['/a'], resources: [{ group: '' }] }, 'cannot apply to both'],
    ['namespaces and URLs', { level: 'None', nonResourceURLs: ['/a'], namespaces: ['x'] }, 'cannot apply to both'],
    ['a relative URL', { level: 'None', nonResourceURLs: ['a'] }, 'must begin with "/"'],
    ['a wildcard in the middle', { level: 'None', nonResourceURLs: ['/a*b'] }, 'must be the last character'],
    ['an invalid group name', { level: 'None', resources: [{ group: 'Apps' }] }, 'is not a valid group name'],
    [
      'resourceNames without resources',
      { level: 'None', resources: [{ group: '', resourceNames: ['a'] }] },
      'resourceNames requires resources',
    ],
  ])('reject a rule with %s', (_, rule, message) => {
    expect(() => policy([rule])).toThrow(message)
  })
})
