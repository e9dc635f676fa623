import { describe, expect, it } from 'vitest'
import { type Rule, type RuleAttributes, ruleMatches } from './rule.ts'

const attributes: RuleAttributes = {
  operation: 'CREATE',
  resource: { group: 'apps', version: 'v1', resource: 'deployments' },
  subresource: '',
  namespace: 'shop',
}
const rule: Rule = { operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] }
const pods = { ...attributes, resource: { group: '', version: 'v1', resource: 'pods' } }
const podRule = (...resources: string[]): Rule => ({ operations: ['*'], apiGroups: [''], apiVersions: ['*'], resources })

describe('ruleMatches', () => {
  it('matches operations and the wildcard [P64]', () => {
    expect(ruleMatches(rule, attributes)).toBe(true)
    expect(ruleMatches(rule, { ...attributes, operation: 'DELETE' })).toBe(false)
    expect(ruleMatches({ ...rule, operations: ['*'] }, { ...attributes, operation: 'CONNECT' })).toBe(true)
    expect(ruleMatches({ ...rule, operations: null }, attributes)).toBe(false)
  })

  it('matches groups and versions; the core group is empty [P65]', () => {
    expect(ruleMatches({ ...rule, apiGroups: ['*'] }, attributes)).toBe(true)
    expect(ruleMatches({ ...rule, apiGroups: [''] }, attributes)).toBe(false)
    expect(ruleMatches(podRule('pods'), pods)).toBe(true)
    expect(ruleMatches({ ...rule, apiVersions: ['v1beta1'] }, attributes)).toBe(false)
    expect(ruleMatches({ ...rule, apiVersions: ['*'] }, attributes)).toBe(true)
  })

  it.each([
    ['pods', '', true],
    ['pods', 'status', false],
    ['pods/status', 'status', true],
    ['pods/status', '', false],
    ['pods/*', 'log', true],
    ['pods/*', '', true],
    ['*', '', true],
    ['*', 'status', false],
    ['*/*', 'status', true],
    ['*/*', '', true],
    ['*/status', 'status', true],
    ['*/status', 'log', false],
    ['services', '', false],
  ])('matches %s against pods/%s: %s [P66]', (name, subresource, matches) => {
    expect(ruleMatches(podRule(name), { ...pods, subresource })).toBe(matches)
  })

  it('matches the scope; namespaces are cluster-scoped [P67]', () => {
    const scoped = (scope: string | null) => ({ ...podRule('*'), scope })
    const namespaces = { ...pods, resource: { group: '', version: 'v1', resource: 'namespaces' }, namespace: 'shop' }
    const nodes = { ...pods, resource: { group: '', version: 'v1', resource: 'nodes' }, namespace: '' }
    expect([pods, nodes, namespaces].map((each) => ruleMatches(scoped('Namespaced'), each))).toEqual([true, false, false])
    expect([pods, nodes, namespaces].map((each) => ruleMatches(scoped('Cluster'), each))).toEqual([false, true, true])
    expect([pods, nodes, namespaces].map((each) => ruleMatches(scoped('*'), each))).toEqual([true, true, true])
    expect([pods, nodes, namespaces].map((each) => ruleMatches(scoped(null), each))).toEqual([true, true, true])
    expect(ruleMatches(scoped('Other'), pods)).toBe(false)
  })
})
