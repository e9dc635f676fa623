import { createFeatures, createNamingProfile, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createRbacAuthorizer } from '../rbac/rbac-authorizer.ts'
import { attributesOf, group, pathAttributesOf, rule, user } from '../testing/samples.fixture.ts'
import { type BootstrapBinding, type BootstrapRole, bootstrapPolicy } from './bootstrap-policy.ts'
import { reconcileBinding, reconcileRole } from './reconcile.ts'

const policy = bootstrapPolicy()
const all = [...policy.clusterRoles, ...policy.clusterRoleBindings, ...policy.roles, ...policy.roleBindings]

describe('bootstrapPolicy', () => {
  it('annotates every object for reconciliation', () => {
    for (const { metadata } of all) {
      expect(metadata.annotations).toEqual({ 'rbac.authorization.kubernetes.io/autoupdate': 'true' })
      expect(metadata.labels).toMatchObject({ 'kubernetes.io/bootstrapping': 'rbac-defaults' })
    }
  })

  it('contains each object once, and a role for every binding', () => {
    const names = all.map(({ kind, metadata: { namespace, name } }) => `${kind} ${namespace}/${name}`)
    expect(new Set(names).size).toBe(names.length)
    for (const { roleRef, metadata } of [...policy.clusterRoleBindings, ...policy.roleBindings]) {
      const namespace = roleRef.kind === 'Role' ? metadata.namespace : undefined
      expect(names).toContain(`${roleRef.kind} ${namespace}/${roleRef.name}`)
    }
  })

  it('sorts members like kube-apiserver, without duplicates', () => {
    const lists = [...policy.clusterRoles, ...policy.roles].flatMap(({ rules }) =>
      (rules ?? []).flatMap((each) => Object.values(each) as string[][]),
    )
    expect(lists.length).toBeGreaterThan(500)
    for (const list of lists) expect(list).toEqual([...new Set(list)].sort())
  })

  it('binds the role of every controller to its service account', () => {
    const binding = policy.clusterRoleBindings.find(({ metadata }) => metadata.name === 'system:controller:ttl-controller')
    expect(binding?.subjects).toEqual([{ kind: 'ServiceAccount', name: 'ttl-controller', namespace: 'kube-system' }])
    expect(policy.clusterRoles.filter(({ metadata }) => metadata.name?.startsWith('system:controller:'))).toHaveLength(35)
  })

  it('follows the release and the feature gates', () => {
    const rulesOf = (name: string, features = createFeatures()) =>
      bootstrapPolicy(stockProfile, { features }).clusterRoles.find(({ metadata }) => metadata.name === name)?.rules
    const cleaner = 'system:controller:podcertificaterequestcleaner'
    expect(rulesOf(cleaner, createFeatures('1.36'))).toBeUndefined()
    expect(rulesOf(cleaner, createFeatures('1.36', { PodCertificateRequest: true }))).toHaveLength(1)
    expect(rulesOf(cleaner, createFeatures('1.37'))).toHaveLength(1)
    const paths = (release: string, gates = {}) =>
      rulesOf('system:monitoring', createFeatures(release, gates))?.map(({ nonResourceURLs }) => nonResourceURLs?.length)
    expect(paths('1.33')).toEqual([8])
    expect(paths('1.35', { ComponentFlagz: true })).toEqual([8, undefined, 1])
    expect(paths('1.36', { ComponentFlagz: true, ComponentStatusz: false })).toEqual([9, undefined])
  })

  it('grants anonymous users only health and version [P249]', () => {
    const { authorize } = createRbacAuthorizer({ objects: all })
    const anonymous = { user: { username: 'system:anonymous', groups: ['system:unauthenticated'] } }
    for (const path of ['/healthz', '/livez', '/readyz', '/version', '/version/']) {
      expect(authorize(pathAttributesOf('get', path, anonymous)).decision).toBe('allow')
    }
    for (const path of ['/api', '/metrics', '/openapi/v2', '/healthz/ping', '/']) {
      expect(authorize(pathAttributesOf('get', path, anonymous)).decision).toBe('noOpinion')
    }
    for (const verb of ['get', 'list', 'create']) {
      for (const resource of ['pods', 'secrets', 'selfsubjectreviews']) {
        expect(authorize(attributesOf(verb, resource, anonymous)).decision).toBe('noOpinion')
      }
    }
  })

  it('aggregates admin, edit and view; view cannot read secrets', () => {
    const bound = (name: string): BootstrapBinding => ({
      ...policy.clusterRoleBindings[0]!,
      metadata: { name: `test-${name}` },
      roleRef: { apiGroup: '', kind: 'ClusterRole', name },
      subjects: [user(name)],
    })
    const { authorize } = createRbacAuthorizer({ objects: [...all, bound('admin'), bound('edit'), bound('view')] })
    const may = (name: string, verb: string, resource: string, group = '') =>
      authorize(attributesOf(verb, resource, { group, namespace: 'a', user: { username: name, groups: [] } })).decision ===
      'allow'
    const people = ['admin', 'edit', 'view']
    expect(people.map((name) => may(name, 'get', 'configmaps'))).toEqual([true, true, true])
    expect(people.map((name) => may(name, 'get', 'secrets'))).toEqual([true, true, false])
    expect(people.map((name) => may(name, 'create', 'deployments', 'apps'))).toEqual([true, true, false])
    expect(people.map((name) => may(name, 'create', 'roles', 'rbac.authorization.k8s.io'))).toEqual([true, false, false])
    expect(people.map((name) => may(name, 'create', 'resourcequotas'))).toEqual([false, false, false])
  })

  it('follows the naming profile', () => {
    const other = bootstrapPolicy(
      createNamingProfile({ apiDomain: 'api.example', domain: 'example.com', systemNamespace: 'sys' }),
    )
    const text = JSON.stringify(other).replaceAll('k8s.io/v1', '')
    expect(text).not.toContain('k8s.io')
    expect(text).not.toContain('kubernetes.io')
    expect(text).not.toContain('kube-system')
    expect(other.roles.map(({ metadata: { namespace } }) => namespace)).toContain('sys')
  })
})

const expectedRole: BootstrapRole = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'r', labels: { a: '1' }, annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' } },
  rules: [rule('get list', 'core', 'pods')],
}

describe('reconcileRole', () => {
  it('keeps an unchanged role', () => {
    expect(reconcileRole(expectedRole, expectedRole)).toEqual({ action: 'keep' })
    const more = {
      ...expectedRole,
      rules: [rule('*', '*', '*')],
      metadata: { ...expectedRole.metadata, labels: { a: '2', b: '3' } },
    }
    expect(reconcileRole(expectedRole, more)).toEqual({ action: 'keep' })
  })

  it('restores rules and labels, and keeps additions', () => {
    const mangled = { ...expectedRole, metadata: { name: 'r', labels: { b: '2' } }, rules: [rule('get', 'core', 'pods secrets')] }
    expect(reconcileRole(expectedRole, mangled)).toEqual({
      action: 'update',
      object: {
        ...expectedRole,
        metadata: { name: 'r', labels: { a: '1', b: '2' }, annotations: expectedRole.metadata.annotations },
        rules: [rule('get', 'core', 'pods secrets'), rule('list', 'core', 'pods')],
      },
    })
  })

  it('skips objects with autoupdate false', () => {
    const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' }
    expect(reconcileRole(expectedRole, { ...expectedRole, rules: [], metadata: { name: 'r', annotations } })).toEqual({
      action: 'keep',
    })
  })

  it('adds missing selectors, and keeps aggregated rules', () => {
    const edit = policy.clusterRoles.find(({ metadata }) => metadata.name === 'edit')!
    expect(reconcileRole(edit, { ...edit, rules: [rule('get', 'core', 'pods')] })).toEqual({ action: 'keep' })
    const own = { ...edit, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { own: 'yes' } }] } }
    const reconciled = reconcileRole(edit, own)
    expect(reconciled.action === 'update' && reconciled.object.aggregationRule?.clusterRoleSelectors).toEqual([
      { matchLabels: { own: 'yes' } },
      { matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' } },
    ])
  })
})

describe('reconcileBinding', () => {
  const expected = policy.clusterRoleBindings.find(({ metadata }) => metadata.name === 'system:basic-user')!

  it('restores subjects, and keeps additions', () => {
    expect(reconcileBinding(expected, expected)).toEqual({ action: 'keep' })
    const reconciled = reconcileBinding(expected, { ...expected, subjects: [group('own')] })
    expect(reconciled.action === 'update' && reconciled.object.subjects).toEqual([group('own'), group('system:authenticated')])
  })

  it('replaces a binding to another role', () => {
    const other = { ...expected, roleRef: { ...expected.roleRef, name: 'cluster-admin' } }
    expect(reconcileBinding(expected, other)).toEqual({ action: 'replace', object: expected })
  })

  it('skips objects with autoupdate false', () => {
    const metadata = { ...expected.metadata, annotations: { [`rbac.authorization.${stockProfile.domain}/autoupdate`]: 'false' } }
    expect(reconcileBinding(expected, { ...expected, metadata, subjects: [] })).toEqual({ action: 'keep' })
  })
})
