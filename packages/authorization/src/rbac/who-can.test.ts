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
    clusterBinding('all', 'reader', group('ops'), account('robot', 'shop')),
    binding('shop', 'keys', ['Role', 'keys'], user('jane'), account('till')),
    binding('other', 'keys', ['ClusterRole', 'reader'], user('joe')),
    binding('shop', 'lost', ['Role', 'gone'], user('jane')),
  ],
})
const question = { ...attributesOf('get', 'secrets', { namespace: 'shop', name: 'tls' }) }

describe('whoCan', () => {
  it('finds all subjects with binding and rule', () => {
    const found = whoCan(policy, question)
    expect(found.map((each) => [formatSubject(each), each.binding.name, each.ruleIndex])).toEqual([
      ['Group "ops"', 'all', 0],
      ['ServiceAccount "robot/shop"', 'all', 0],
      ['User "jane"', 'keys', 1],
      ['ServiceAccount "till/shop"', 'keys', 1],
    ])
  })

  it('ignores RoleBindings for cluster-scoped queries', () => {
    expect(whoCan(policy, { ...question, namespace: '' }).map(({ binding: { name } }) => name)).toEqual(['all', 'all'])
  })
})

describe('explainAccess', () => {
  it('reports the granting binding', () => {
    const { allowed, grants, others } = explainAccess(policy, question)
    expect(allowed).toBe(true)
    expect(grants.map(formatSubject)).toEqual(['User "jane"'])
    expect(others.map(formatSubject)).toEqual(['Group "ops"', 'ServiceAccount "robot/shop"'])
  })

  it('reports insufficient bindings and other subjects', () => {
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

describe('aggregatedRules', () => {
  const sum = (...clusterRoleSelectors: object[]) => ({ ...clusterRole('sum', []), aggregationRule: { clusterRoleSelectors } })
  const pods = rule('get', 'core', 'pods')
  const secrets = rule('get', 'core', 'secrets')
  const roles = [
    clusterRole('b', [secrets, pods], { into: 'sum' }),
    clusterRole('a', [pods], { into: 'sum', also: 'x' }),
    clusterRole('c', [rule('list', 'core', 'pods')], {}),
    clusterRole('sum', [rule('*', '*', '*')], { into: 'sum' }),
  ]

  it('collects rules by selector and name, without duplicates and its previous rules', () => {
    expect(aggregatedRules(sum({ matchLabels: { into: 'sum' } }), roles)).toEqual([pods, secrets])
    expect(aggregatedRules(sum({ matchLabels: { also: 'x' } }, { matchLabels: { into: 'sum' } }), roles)).toEqual([pods, secrets])
  })

  it('supports expressions; an empty selector matches all roles, a malformed one none', () => {
    const absent = sum({ matchExpressions: [{ key: 'into', operator: 'DoesNotExist' }] })
    expect(aggregatedRules(absent, roles)).toEqual([rule('list', 'core', 'pods')])
    expect(aggregatedRules(sum({}), roles)).toHaveLength(3)
    expect(aggregatedRules(sum({ matchExpressions: [{ key: 'into', operator: 'Nope' }] }), roles)).toEqual([])
  })

  it('is undefined without an aggregation rule', () => {
    expect(aggregatedRules(roles[0]!, roles)).toBeUndefined()
  })
})
