import { describe, expect, it } from 'vitest'
import {
  account,
  attributesOf,
  binding,
  clusterBinding,
  clusterRole,
  group,
  role,
  rule,
  user,
} from '../testing/samples.fixture.ts'
import { aggregatedRules } from './aggregation.ts'
import { createRbacAuthorizer } from './rbac-authorizer.ts'
import { explainAccess, formatSubject, whoCan } from './who-can.ts'

const { policy } = createRbacAuthorizer({
  objects: [
    clusterRole('reader', [rule('get list', 'core', 'secrets pods')]),
    role('shop', 'keys', [rule('get', 'core', 'pods'), rule('*', 'core', 'secrets', 'tls')]),
    clusterBinding('everybody', 'reader', group('ops'), account('robot', 'shop')),
    binding('shop', 'keys', ['Role', 'keys'], user('jane'), account('till')),
    binding('other', 'keys', ['ClusterRole', 'reader'], user('joe')),
    binding('shop', 'lost', ['Role', 'gone'], user('jane')),
  ],
})
const question = { ...attributesOf('get', 'secrets', { namespace: 'shop', name: 'tls' }) }

describe('whoCan', () => {
  it('tells everybody, with the binding and the rule', () => {
    const found = whoCan(policy, question)
    expect(found.map((each) => [formatSubject(each), each.binding.name, each.ruleIndex])).toEqual([
      ['Group "ops"', 'everybody', 0],
      ['ServiceAccount "robot/shop"', 'everybody', 0],
      ['User "jane"', 'keys', 1],
      ['ServiceAccount "till/shop"', 'keys', 1],
    ])
  })

  it('bindings of namespaces say nothing about the cluster', () => {
    expect(whoCan(policy, { ...question, namespace: '' }).map(({ binding: { name } }) => name)).toEqual([
      'everybody',
      'everybody',
    ])
  })
})

describe('explainAccess', () => {
  it('tells what grants a right', () => {
    const { allowed, grants, others } = explainAccess(policy, question)
    expect(allowed).toBe(true)
    expect(grants.map(formatSubject)).toEqual(['User "jane"'])
    expect(others.map(formatSubject)).toEqual(['Group "ops"', 'ServiceAccount "robot/shop"'])
  })

  it('tells what was passed over, and who has the right instead', () => {
    const { allowed, insufficient, others } = explainAccess(policy, { ...question, verb: 'list' })
    expect(allowed).toBe(true)
    expect(explainAccess(policy, { ...question, verb: 'list', name: '' }).allowed).toBe(false)
    expect(insufficient.map(({ binding: { name }, why }) => [name, why])).toEqual([
      ['lost', 'role.rbac.authorization.k8s.io "gone" not found'],
    ])
    expect(others).toHaveLength(2)
    const refused = explainAccess(policy, { ...question, verb: 'delete', name: '' })
    expect(refused.insufficient.map(({ binding: { name }, why }) => [name, why])).toEqual([
      ['keys', 'no rule of the role allows it'],
      ['lost', 'role.rbac.authorization.k8s.io "gone" not found'],
    ])
  })
})

describe('gatheredRules', () => {
  const sum = (...clusterRoleSelectors: object[]) => ({ ...clusterRole('sum', []), aggregationRule: { clusterRoleSelectors } })
  const pods = rule('get', 'core', 'pods')
  const secrets = rule('get', 'core', 'secrets')
  const roles = [
    clusterRole('b', [secrets, pods], { into: 'sum' }),
    clusterRole('a', [pods], { into: 'sum', also: 'x' }),
    clusterRole('c', [rule('list', 'core', 'pods')], {}),
    clusterRole('sum', [rule('*', '*', '*')], { into: 'sum' }),
  ]

  it('takes roles by selector and by name, each rule once, never its own', () => {
    expect(aggregatedRules(sum({ matchLabels: { into: 'sum' } }), roles)).toEqual([pods, secrets])
    expect(aggregatedRules(sum({ matchLabels: { also: 'x' } }, { matchLabels: { into: 'sum' } }), roles)).toEqual([pods, secrets])
  })

  it('selects with expressions, everything with an empty selector, nothing with one that cannot be read', () => {
    const absent = sum({ matchExpressions: [{ key: 'into', operator: 'DoesNotExist' }] })
    expect(aggregatedRules(absent, roles)).toEqual([rule('list', 'core', 'pods')])
    expect(aggregatedRules(sum({}), roles)).toHaveLength(3)
    expect(aggregatedRules(sum({ matchExpressions: [{ key: 'into', operator: 'Nope' }] }), roles)).toEqual([])
  })

  it('is undefined for roles that gather nothing', () => {
    expect(aggregatedRules(roles[0]!, roles)).toBeUndefined()
  })
})
