import { seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { Attributes, StoredObject } from '../interfaces.ts'
import {
  account,
  attributesOf,
  binding,
  clusterBinding,
  clusterRole,
  group,
  pathAttributesOf,
  role,
  rule,
  user,
} from '../testing/samples.fixture.ts'
import { readBinding, readRole } from './objects.ts'
import { subjectMatches } from './policy.ts'
import { createRbacAuthorizer } from './rbac-authorizer.ts'
import { ruleAllows } from './rule-match.ts'

const reader = clusterRole('reader', [rule('get list', 'core', 'pods')])
const jane = { username: 'jane', groups: ['dev', 'system:authenticated'] }
const inShop = { namespace: 'shop', user: jane }

describe('createRbacAuthorizer', () => {
  it('applies ClusterRoleBindings everywhere and RoleBindings in their namespace', () => {
    const everywhere = createRbacAuthorizer({ objects: [reader, clusterBinding('b', 'reader', user('jane'))] })
    for (const namespace of ['', 'shop'])
      expect(everywhere.authorize(attributesOf('get', 'pods', { namespace })).decision).toBe('allow')
    const local = createRbacAuthorizer({ objects: [reader, binding('shop', 'b', ['ClusterRole', 'reader'], user('jane'))] })
    expect(local.authorize(attributesOf('get', 'pods', inShop)).decision).toBe('allow')
    for (const namespace of ['', 'other'])
      expect(local.authorize(attributesOf('get', 'pods', { namespace })).decision).toBe('noOpinion')
  })

  it('requires a ClusterRoleBinding for non-resource requests', () => {
    const paths = clusterRole('paths', [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }])
    const question = pathAttributesOf('get', '/metrics')
    const local = createRbacAuthorizer({ objects: [paths, binding('shop', 'b', ['ClusterRole', 'paths'], user('jane'))] })
    expect(local.authorize(question).decision).toBe('noOpinion')
    const everywhere = createRbacAuthorizer({ objects: [paths, clusterBinding('b', 'paths', user('jane'))] })
    expect(everywhere.authorize(question).decision).toBe('allow')
  })

  it('applies bindings of the anonymous user and group [P249]', () => {
    const anonymous = { username: 'system:anonymous', groups: ['system:unauthenticated'] }
    for (const subject of [user('system:anonymous'), group('system:unauthenticated')]) {
      const rbac = createRbacAuthorizer({ objects: [reader, clusterBinding('b', 'reader', subject)] })
      expect(rbac.authorize(attributesOf('get', 'pods', { user: anonymous })).decision).toBe('allow')
      expect(rbac.authorize(attributesOf('get', 'pods', { user: jane })).decision).toBe('noOpinion')
    }
  })

  it.each([
    [account('robot', 'shop'), 'system:serviceaccount:shop:robot', true],
    [account('robot'), 'system:serviceaccount:shop:robot', true],
    [account('robot', 'other'), 'system:serviceaccount:shop:robot', false],
    [user('system:serviceaccount:shop:robot'), 'system:serviceaccount:shop:robot', true],
    [user('robot'), 'system:serviceaccount:shop:robot', false],
    [group('robot'), 'robot', false],
    [{ kind: 'Robot', name: 'robot' }, 'robot', false],
  ])('matches subject %j with %s: %s', (subject, username, allowed) => {
    const rbac = createRbacAuthorizer({ objects: [reader, binding('shop', 'b', ['ClusterRole', 'reader'], subject)] })
    const { decision } = rbac.authorize(attributesOf('get', 'pods', { namespace: 'shop', user: { username, groups: [] } }))
    expect(decision).toBe(allowed ? 'allow' : 'noOpinion')
  })

  it('applies bindings of service account groups', () => {
    const rbac = createRbacAuthorizer({ objects: [reader, clusterBinding('b', 'reader', group('system:serviceaccounts:shop'))] })
    const robot = {
      username: 'system:serviceaccount:shop:robot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:shop'],
    }
    expect(rbac.authorize(attributesOf('get', 'pods', { user: robot })).decision).toBe('allow')
  })

  it.each([
    [
      [clusterBinding('x', 'reader', group('dev'))],
      'RBAC: allowed by ClusterRoleBinding "x" of ClusterRole "reader" to Group "dev"',
    ],
    [
      [binding('shop', 'x', ['ClusterRole', 'reader'], user('jane'))],
      'RBAC: allowed by RoleBinding "x/shop" of ClusterRole "reader" to User "jane"',
    ],
    [
      [role('shop', 'own', [rule('get', 'core', 'pods')]), binding('shop', 'x', ['Role', 'own'], user('jane'))],
      'RBAC: allowed by RoleBinding "x/shop" of Role "own" to User "jane"',
    ],
    [
      [clusterBinding('x', 'reader', group('other'), group('dev'), user('jane'))],
      'RBAC: allowed by ClusterRoleBinding "x" of ClusterRole "reader" to Group "dev"',
    ],
  ])('words reasons like kube-apiserver', (objects, reason) => {
    const rbac = createRbacAuthorizer({ objects: [reader, ...objects] })
    expect(rbac.authorize(attributesOf('get', 'pods', inShop)).reason).toBe(reason)
  })

  it('names service accounts with their namespace in reasons', () => {
    const rbac = createRbacAuthorizer({ objects: [reader, binding('shop', 'x', ['ClusterRole', 'reader'], account('robot'))] })
    const robot = { username: 'system:serviceaccount:shop:robot', groups: [] }
    expect(rbac.authorize(attributesOf('get', 'pods', { namespace: 'shop', user: robot })).reason).toBe(
      'RBAC: allowed by RoleBinding "x/shop" of ClusterRole "reader" to ServiceAccount "robot/shop"',
    )
  })

  it('traces binding, role, subject and rule', () => {
    const both = clusterRole('both', [rule('get', 'core', 'secrets'), rule('get', 'core', 'pods')])
    const rbac = createRbacAuthorizer({ objects: [both, clusterBinding('x', 'both', user('jane'))] })
    expect(rbac.authorize(attributesOf('get', 'pods')).trace).toEqual({
      authorizer: 'RBAC',
      binding: { kind: 'ClusterRoleBinding', namespace: '', name: 'x' },
      role: { kind: 'ClusterRole', namespace: '', name: 'both' },
      subject: user('jane'),
      rule: rule('get', 'core', 'pods'),
      ruleIndex: 1,
    })
  })

  it('reports a missing role until it exists', () => {
    const rbac = createRbacAuthorizer({
      objects: [clusterBinding('a', 'gone', user('jane')), binding('shop', 'b', ['Role', 'lost'], group('dev'))],
    })
    const question = attributesOf('get', 'pods', inShop)
    expect(rbac.authorize(question)).toEqual({
      decision: 'noOpinion',
      reason: 'RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "lost" not found]',
    })
    rbac.policy.put(role('shop', 'lost', []))
    expect(rbac.authorize(question).reason).toBe('RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found')
    rbac.policy.put(clusterRole('gone', [rule('get', 'core', 'pods')]))
    expect(rbac.authorize(question).decision).toBe('allow')
    expect(rbac.authorize(attributesOf('list', 'pods', inShop)).reason).toBe('')
  })

  it('resolves aggregation rules of initial objects', () => {
    const objects: StoredObject[] = [
      {
        ...clusterRole('sum', []),
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { into: 'sum' } }] },
      },
      clusterRole('part', [rule('get', 'core', 'pods')], { into: 'sum' }),
      clusterBinding('b', 'sum', user('jane')),
    ]
    expect(createRbacAuthorizer({ objects }).authorize(attributesOf('get', 'pods')).decision).toBe('allow')
  })

  it.each([
    [{ kind: 'ClusterRole', rules: 'all' }],
    [{ kind: 'ClusterRole', rules: [null, 5, { verbs: 'get' }, { verbs: [1, {}], apiGroups: null }] }],
    [{ kind: 'ClusterRoleBinding', roleRef: null, subjects: [null, 'x', { kind: 'User' }] }],
    [{ kind: 'RoleBinding', roleRef: { kind: 'Role', name: 'reader' }, subjects: [user('jane')] }],
    [{ kind: 'Role', rules: [rule('*', '*', '*')] }],
  ])('grants nothing by the malformed object %j', (object) => {
    const metadata = { name: 'reader' }
    const wrong = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata, ...object } as unknown as StoredObject
    const rbac = createRbacAuthorizer({ objects: [wrong, clusterBinding('b', 'reader', user('jane'))] })
    expect(rbac.authorize(attributesOf('get', 'pods')).decision).toBe('noOpinion')
  })

  it('ignores a ClusterRoleBinding to a Role', () => {
    const wrong = { ...clusterBinding('b', 'own', user('jane')), roleRef: { kind: 'Role', name: 'own' } }
    const rbac = createRbacAuthorizer({ objects: [role('shop', 'own', [rule('*', '*', '*')]), wrong] })
    expect(rbac.authorize(attributesOf('get', 'pods', inShop)).decision).toBe('noOpinion')
  })

  it('ignores objects of other groups', () => {
    const other = { ...reader, apiVersion: 'rbac.example.com/v1' }
    const rbac = createRbacAuthorizer({ objects: [other, clusterBinding('b', 'reader', user('jane'))] })
    expect(rbac.authorize(attributesOf('get', 'pods')).decision).toBe('noOpinion')
  })

  it('lists rules: cluster scope first, ordered by binding name', () => {
    const rbac = createRbacAuthorizer({
      objects: [
        role('shop', 'own', [rule('*', 'apps', '*'), { verbs: ['get'], nonResourceURLs: ['/x'] }]),
        binding('shop', 'a', ['Role', 'own'], group('dev')),
        binding('other', 'a', ['Role', 'own'], group('dev')),
        clusterBinding('z', 'reader', user('jane')),
        clusterBinding('y', 'gone', user('jane'), group('dev')),
        reader,
      ],
    })
    expect(rbac.rulesFor(jane, 'shop')).toEqual({
      resourceRules: [rule('get list', 'core', 'pods'), rule('*', 'apps', '*')],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
      incomplete: false,
      errors: ['clusterrole.rbac.authorization.k8s.io "gone" not found'],
    })
  })
})

/** Reference implementation of the documented rules, without an index. */
function plainDecision(objects: Iterable<StoredObject>, attributes: Attributes): boolean {
  const all = [...objects]
  return all
    .filter(({ kind }) => kind.endsWith('Binding'))
    .map(readBinding)
    .some((each) => {
      const { kind, namespace, roleRef, subjects } = each
      if (kind === 'RoleBinding' && namespace !== attributes.namespace) return false
      if (!subjects.some((subject) => subjectMatches(subject, namespace, attributes.user))) return false
      const found = all.find(
        (object) =>
          object.kind === roleRef.kind &&
          object.metadata.name === roleRef.name &&
          (object.kind === 'ClusterRole' || object.metadata.namespace === namespace),
      )
      return found !== undefined && readRole(found).rules.some((one) => ruleAllows(one, attributes))
    })
}

describe('RbacPolicy', () => {
  it.each([1, 2, 3, 4])('decides like an unindexed policy over random changes (seed %i)', (seed) => {
    const random = seededRandom(seed)
    const below = (n: number) => (random.bytes(2)[0]! * 256 + random.bytes(1)[0]!) % n
    const pick = <T>(values: readonly T[]): T => values[below(values.length)]!
    const namespaces = ['a', 'b']
    const subjects = [user('jane'), user('joe'), group('dev'), group('ops'), account('robot', 'a'), account('robot')]
    const names = Array.from({ length: 90 }, (_, i) => `n${i}`)
    const someRule = () =>
      below(6) === 0
        ? { verbs: [pick(['get', '*'])], nonResourceURLs: [pick(['/x', '/x/*', '*'])] }
        : rule(
            pick(['get', 'list get', '*', 'create']),
            pick(['core', 'apps', '*', 'core apps']),
            pick(['pods', 'pods/log', '*/log', '*', 'pods secrets']),
            pick([undefined, undefined, 'one', 'one two']),
          )
    const rules = () => Array.from({ length: below(4) }, someRule)
    const make: readonly (() => StoredObject)[] = [
      () => clusterRole(pick(names.slice(0, 6)), rules()),
      () => role(pick(namespaces), pick(names.slice(0, 6)), rules()),
      () => clusterBinding(pick(names), pick(names.slice(0, 6)), pick(subjects), pick(subjects)),
      () => binding(pick(namespaces), pick(names), [pick(['Role', 'ClusterRole']), pick(names.slice(0, 6))], pick(subjects)),
    ]
    const questions = () => {
      const question = pick([
        user('jane'),
        user('joe'),
        user('system:serviceaccount:a:robot'),
        user('system:serviceaccount:b:robot'),
      ])
      const who = { username: question.name, groups: pick([[], ['dev'], ['ops', 'dev']]) }
      if (below(5) === 0) return pathAttributesOf('get', pick(['/x', '/x/y', '/z']), { user: who })
      const rest = { user: who, namespace: pick(['', 'a', 'b']), group: pick(['', 'apps']), name: pick(['', 'one', 'three']) }
      return attributesOf(pick(['get', 'list', 'create']), pick(['pods', 'pods/log', 'secrets']), rest)
    }
    const rbac = createRbacAuthorizer()
    const there = new Map<string, StoredObject>()
    for (let step = 0; step < 900; step++) {
      const object = pick(make)()
      const key = `${object.kind}/${object.metadata.namespace}/${object.metadata.name}`
      if (below(4) === 0) {
        there.delete(key)
        rbac.policy.remove(object)
      } else {
        there.set(key, object)
        rbac.policy.put(object)
      }
      for (let i = 0; i < 3; i++) {
        const question = questions()
        const expected = plainDecision(there.values(), question)
        expect([rbac.authorize(question).decision, step, question]).toEqual([expected ? 'allow' : 'noOpinion', step, question])
      }
    }
    // Removed objects leave no state.
    for (const object of there.values()) rbac.policy.remove(object)
    expect(rbac.policy.bindings()).toEqual([])
    expect(rbac.authorize(attributesOf('get', 'pods', inShop))).toEqual({ decision: 'noOpinion', reason: '' })
  })

  it('clears one kind and keeps the others', () => {
    const rbac = createRbacAuthorizer({ objects: [reader, clusterBinding('b', 'reader', user('jane'))] })
    const roles = rbac.policy.handlerFor('ClusterRole')
    roles.clear()
    expect(rbac.authorize(attributesOf('get', 'pods')).reason).toContain('"reader" not found')
    roles.put(reader)
    expect(rbac.authorize(attributesOf('get', 'pods')).decision).toBe('allow')
    rbac.policy.handlerFor('ClusterRoleBinding').clear()
    expect(rbac.authorize(attributesOf('get', 'pods'))).toEqual({ decision: 'noOpinion', reason: '' })
  })
})
