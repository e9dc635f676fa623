import { describe, expect, it } from 'vitest'
import { type Rule, type RuleAttributes, ruleMatches } from './rule.ts'

const subject: RuleAttributes = {
  operation: 'CREATE',
  resource: { group: 'apps', version: 'v1', resource: 'deployments' },
  subresource: '',
  namespace: 'shop',
}
const rule: Rule = { operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] }
const pods = { ...subject, resource: { group: '', version: 'v1', resource: 'pods' } }
const ofPods = (...resources: string[]): Rule => ({ operations: ['*'], apiGroups: [''], apiVersions: ['*'], resources })

describe('rules', () => {
  it('P64 cover the operations that they name, or all', () => {
    expect(ruleMatches(rule, subject)).toBe(true)
    expect(ruleMatches(rule, { ...subject, operation: 'DELETE' })).toBe(false)
    expect(ruleMatches({ ...rule, operations: ['*'] }, { ...subject, operation: 'CONNECT' })).toBe(true)
    expect(ruleMatches({ ...rule, operations: null }, subject)).toBe(false)
  })

  it('P65 cover groups and versions, the core group by its empty name', () => {
    expect(ruleMatches({ ...rule, apiGroups: ['*'] }, subject)).toBe(true)
    expect(ruleMatches({ ...rule, apiGroups: [''] }, subject)).toBe(false)
    expect(ruleMatches(ofPods('pods'), pods)).toBe(true)
    expect(ruleMatches({ ...rule, apiVersions: ['v1beta1'] }, subject)).toBe(false)
    expect(ruleMatches({ ...rule, apiVersions: ['*'] }, subject)).toBe(true)
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
  ])('P66 %s for pods/%s: %s', (name, subresource, covered) => {
    expect(ruleMatches(ofPods(name), { ...pods, subresource })).toBe(covered)
  })

  it('P67 a scope leaves out the other one; namespaces count as cluster-scoped', () => {
    const scoped = (scope: string | null) => ({ ...ofPods('*'), scope })
    const namespaces = { ...pods, resource: { group: '', version: 'v1', resource: 'namespaces' }, namespace: 'shop' }
    const nodes = { ...pods, resource: { group: '', version: 'v1', resource: 'nodes' }, namespace: '' }
    expect([pods, nodes, namespaces].map((each) => ruleMatches(scoped('Namespaced'), each))).toEqual([true, false, false])
    expect([pods, nodes, namespaces].map((each) => ruleMatches(scoped('Cluster'), each))).toEqual([false, true, true])
    expect([pods, nodes, namespaces].map((each) => ruleMatches(scoped('*'), each))).toEqual([true, true, true])
    expect([pods, nodes, namespaces].map((each) => ruleMatches(scoped(null), each))).toEqual([true, true, true])
    expect(ruleMatches(scoped('Other'), pods)).toBe(false)
  })
})
